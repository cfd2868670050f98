import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { asFault, Fault } from '../api/fault.ts'
import { listOptions } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMe } from '../api/session.ts'
import { plural } from '../lib/format.ts'
import { nextChange } from '../live/live.ts'
import { announce } from '../ui/announce.tsx'

export type Export = Schemas['MonitorExport']
export type Config = Schemas['MonitorExportConfig']
/** An export's configuration except its period. */
export type What = Omit<Config, 'since' | 'until' | 'timezone' | 'notificationEndpointId'>

export const exportsOptions = listOptions(['exports'], (cursor) =>
  answer(api.GET('/v1/monitor-exports', { params: { query: { limit: 50, ...cursor } } })),
)

/** Returns the endpoints that can receive export events. There are none if the organization can't send them. */
export const useEndpoints = () => {
  const { features } = useMe()
  const { data } = useQuery({
    queryKey: ['webhook-endpoints', 'names'],
    queryFn: () => answer(api.GET('/v1/webhook-endpoints', { params: { query: { limit: 200 } } })),
    enabled: features.exportWebhooks,
  })
  const endpoints = data?.data ?? []
  return {
    active: endpoints.filter(({ status }) => status === 'active').map(({ id, url }) => ({ value: id, label: url })),
    nameOf: (id: string | null): string => endpoints.find((endpoint) => endpoint.id === id)?.name ?? 'Webhook endpoint',
  }
}

export const isUnderway = ({ status }: Pick<Export, 'status'>): boolean =>
  status === 'pending' || status === 'processing'

/** Returns the query for the number of rows of an export, and the first rows. */
export const previewOptions = (config: Config | undefined) =>
  queryOptions({
    queryKey: ['exports', 'preview', config],
    // `enabled` prevents a request without a configuration.
    queryFn: ({ signal }) =>
      answer(api.POST('/v1/monitor-exports/preview', { body: { config: config as Config }, signal })),
    enabled: config !== undefined,
    retry: false,
  })

const watched = new Set<string>()

/** Follows an export until it ends, on any page, and announces the result once. */
export const watchExport = async (id: string): Promise<void> => {
  if (watched.has(id)) return
  watched.add(id)
  for (;;) {
    const changed = nextChange('monitor-exports', id)
    const state = await answer(api.GET('/v1/monitor-exports/{id}', { params: { path: { id } } })).catch(asFault)
    // This stops if the member has signed out or lost access. If the server can't be reached, it tries again.
    if (state instanceof Fault && [401, 403, 404].includes(state.status)) return void watched.delete(id)
    if (state instanceof Fault || isUnderway(state)) {
      await changed
      continue
    }
    if (state.status === 'completed')
      announce('Export ready', `${plural(state.rowCount ?? 0, 'row')}. Download it under Exports.`)
    if (state.status === 'failed' && state.errorCode !== 'cancelled')
      announce('Export failed', 'See Exports for details.')
    return
  }
}
