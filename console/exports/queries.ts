import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { asFault, Fault } from '../api/fault.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMe } from '../api/session.ts'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'

export type Export = Schemas['MonitorExport']
export type Config = Schemas['MonitorExportConfig']
/** What an export is of, but for when. */
export type What = Omit<Config, 'since' | 'until' | 'timezone' | 'notificationEndpointId'>

export const exportsOptions = listOptions(['exports'], (cursor) =>
  answer(api.GET('/v1/monitor-exports', { params: { query: { limit: 50, ...cursor } } })),
)

/** Whoever may be told of a file; none where the organization has no webhooks for exports. */
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

/** How many rows an export has, and the first of them. */
export const previewOptions = (config: Config | undefined) =>
  queryOptions({
    queryKey: ['exports', 'preview', config],
    // `enabled` keeps it from being asked without one.
    queryFn: ({ signal }) =>
      answer(api.POST('/v1/monitor-exports/preview', { body: { config: config as Config }, signal })),
    enabled: config !== undefined,
    retry: false,
  })

const watched = new Set<string>()
const everyMs = 1_500

/** Follows an export to its end, whichever page is looked at, and says once how it ended. */
export const watchExport = async (id: string): Promise<void> => {
  if (watched.has(id)) return
  watched.add(id)
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, everyMs))
    const state = await answer(api.GET('/v1/monitor-exports/{id}', { params: { path: { id } } })).catch(asFault)
    // Whoever signed out, or may not see it any more, is not told of it; a service out of reach is asked again.
    if (state instanceof Fault && [401, 403, 404].includes(state.status)) return void watched.delete(id)
    await queryClient.invalidateQueries({ queryKey: exportsOptions.queryKey, exact: true })
    if (state instanceof Fault || isUnderway(state)) continue
    if (state.status === 'completed')
      announce('Export ready', `${plural(state.rowCount ?? 0, 'row')}. Download it under Exports.`)
    if (state.status === 'failed' && state.errorCode !== 'cancelled')
      announce('Export failed', 'See Exports for details.')
    return
  }
}
