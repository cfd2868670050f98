import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { asFault, Fault } from '../api/fault.ts'
import { listOptions, queryClient, useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMe } from '../api/session.ts'
import { plural } from '../lib/format.ts'
import { nextChange } from '../live/live.ts'
import { announce } from '../ui/announce.tsx'
import { mergeLists } from './merge-lists.ts'

export type ResultsConfig = Schemas['MonitorExportConfig']
export type ListConfig = Schemas['ConversationExportConfig']
export type Config = ResultsConfig | ListConfig
export type Export = Schemas['MonitorExport'] | Schemas['ConversationExport']

/** A configuration for an export of monitor results, without its period. */
export type What = Omit<ResultsConfig, 'since' | 'until' | 'timezone' | 'notificationEndpointId'>
/** A configuration for an export of conversations, without the properties that schedules define themselves. */
export type List = Omit<ListConfig, 'timezone' | 'notificationEndpointId'>

export const isOfList = (config: Config): config is ListConfig => 'columns' in config

/** Returns the resource's path in the API. */
export const resourceOf = (config: Config) => (isOfList(config) ? 'conversation-exports' : 'monitor-exports')

const exportsKey = ['exports', 'list']

const resultsOptions = listOptions<Export>([...exportsKey, 'monitor-exports'], (cursor) =>
  answer(api.GET('/v1/monitor-exports', { params: { query: { limit: 50, ...cursor } } })),
)

const listsOptions = listOptions<Export>([...exportsKey, 'conversation-exports'], (cursor) =>
  answer(api.GET('/v1/conversation-exports', { params: { query: { limit: 50, ...cursor } } })),
)

const refreshExports = () => queryClient.invalidateQueries({ queryKey: exportsKey })

/** Returns both kinds of exports as one list. Exports of monitor results require the entitlement. */
export const useExports = () => {
  const { entitlements } = useMe()
  const results = useList<Export>({ ...resultsOptions, enabled: entitlements.monitors })
  const lists = useList<Export>(listsOptions)
  const both = entitlements.monitors ? [results, lists] : [lists]
  const isPending = both.some((list) => list.isPending)
  const each = (run: (list: (typeof both)[number]) => void) => {
    for (const list of both) run(list)
  }
  const isMore = both.some(({ more }) => more !== undefined)
  return {
    rows: isPending ? undefined : mergeLists(both),
    error: both.find(({ error }) => error !== null)?.error ?? null,
    isPending,
    isFetchingMore: both.some((list) => list.isFetchingMore),
    more: isMore ? () => each(({ more }) => more?.()) : undefined,
    retry: () => each(({ retry }) => retry()),
  }
}

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

const preview = (config: Config, signal: AbortSignal) =>
  isOfList(config)
    ? answer(api.POST('/v1/conversation-exports/preview', { body: { config }, signal }))
    : answer(api.POST('/v1/monitor-exports/preview', { body: { config }, signal }))

/** Returns the query for an export's first rows and its total number of rows. */
export const previewOptions = (config: Config | undefined) =>
  queryOptions({
    queryKey: ['exports', 'preview', config],
    // `enabled` prevents a request without a configuration.
    queryFn: ({ signal }) => preview(config as Config, signal),
    enabled: config !== undefined,
    retry: false,
  })

const create = (operationId: string, config: Config): Promise<Export> =>
  isOfList(config)
    ? answer(api.POST('/v1/conversation-exports', { body: { operationId, config } }))
    : answer(api.POST('/v1/monitor-exports', { body: { operationId, config } }))

/** Creates an export, shows it in the list, and follows it. */
export const createExport = async (operationId: string, config: Config): Promise<void> => {
  const made = await create(operationId, config)
  await refreshExports()
  void watchExport(made)
}

export const deleteExport = async ({ id, config }: Export): Promise<void> => {
  const params = { path: { id } }
  await (isOfList(config)
    ? api.DELETE('/v1/conversation-exports/{id}', { params })
    : api.DELETE('/v1/monitor-exports/{id}', { params }))
  await refreshExports()
}

const read = ({ id, config }: Export): Promise<Export> => {
  const params = { path: { id } }
  return isOfList(config)
    ? answer(api.GET('/v1/conversation-exports/{id}', { params }))
    : answer(api.GET('/v1/monitor-exports/{id}', { params }))
}

const watched = new Set<string>()

/** Follows an export until it ends, on any page, and announces the result once. */
export const watchExport = async (of: Export): Promise<void> => {
  const { id, config } = of
  if (watched.has(id)) return
  watched.add(id)
  for (;;) {
    const changed = nextChange(resourceOf(config), id)
    const state = await read(of).catch(asFault)
    // This stops if the member has signed out or lost access. If the server can't be reached, it retries.
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
