import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import type { ResultFilter } from './search.ts'

export type Monitor = Schemas['Monitor']
export type Trend = Schemas['MonitorTrend']
export type TrendDay = Trend['data'][number]
export type Agreement = Schemas['MonitorAgreement']
export type Run = Schemas['EvaluationRun']
export type Scope = Schemas['MonitorScope']
export type Filter = Schemas['Filter']

/** The number of monitors on a page of the list. It is low because each row loads its own trend. */
const monitorsAtOnce = 25

export const monitorsOptions = listOptions<Monitor>(['monitors', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/monitors', { params: { query: { limit: monitorsAtOnce, ...cursor } }, signal })),
)

export const monitorOptions = (id: string) =>
  queryOptions({
    queryKey: ['monitors', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/monitors/{id}', { params: { path: { id } }, signal })),
  })

export const versionsOptions = (id: string) =>
  listOptions<Schemas['MonitorVersion']>(['monitors', id, 'versions'], (cursor, signal) =>
    answer(
      api.GET('/v1/monitors/{id}/versions', {
        params: { path: { id }, query: { limit: 200, ...cursor } },
        signal,
      }),
    ),
  )

type EvaluationRequest =
  | { since: string; until: string; dryRun: boolean; mode?: 'standard' | 'batch'; filter?: Schemas['Filter'] }
  | { conversationIds: string[]; dryRun: boolean }

/** Evaluates stored conversations. With `dryRun`, the API returns an estimate instead of a run. */
export const requestEvaluation = (id: string, body: EvaluationRequest) =>
  answer(api.POST('/v1/monitors/{id}/evaluations', { params: { path: { id } }, body }))

export const agreementOptions = (id: string) =>
  listOptions<Agreement>(['monitors', id, 'agreement'], (cursor, signal) =>
    answer(
      api.GET('/v1/monitors/{id}/agreement', { params: { path: { id }, query: { limit: 50, ...cursor } }, signal }),
    ),
  )

export const reviewResultsOptions = (id: string, result: ResultFilter, version: number | undefined) =>
  listOptions<Schemas['MonitorResult']>(['monitors', id, 'results', result, version ?? null], (cursor, signal) =>
    answer(
      api.GET('/v1/monitors/{id}/results', {
        params: {
          path: { id },
          query: { limit: 20, result, ...(version !== undefined && { version }), ...cursor },
        },
        signal,
      }),
    ),
  )

export const isUnfinished = ({ status }: Run): boolean => status === 'queued' || status === 'running'

export const runsOptions = (id: string) =>
  listOptions<Run>(['monitors', id, 'evaluations'], (cursor, signal) =>
    answer(
      api.GET('/v1/monitors/{id}/evaluations', { params: { path: { id }, query: { limit: 20, ...cursor } }, signal }),
    ),
  )

/** Requests the monitors that Earshot evaluates itself, at most 200. */
export const evaluatedMonitorsOptions = queryOptions({
  queryKey: ['monitors', 'enabled', 'evaluated'],
  queryFn: async ({ signal }) => {
    const { data } = await answer(api.GET('/v1/monitors', { params: { query: { limit: 200 } }, signal }))
    return data.filter(({ kind }) => kind !== 'external')
  },
})

/** Returns the query for findings that spikes of this monitor created. */
export const spikesOptions = (id: string) =>
  queryOptions({
    queryKey: ['findings', 'spikes', id],
    queryFn: ({ signal }) =>
      answer(api.GET('/v1/findings', { params: { query: { monitorId: id, findingType: '1', limit: 50 } }, signal })),
    staleTime: 60_000,
  })

/**
 * Returns the start, agent, and customer of the latest conversations that match a filter, for lists that only have IDs.
 */
export const useNewest = (filter: Filter, limit: number) => {
  const { data } = useQuery({
    queryKey: ['conversations', 'newest', filter, limit],
    queryFn: ({ signal }) => answer(api.POST('/v1/conversations/search', { body: { filter, limit }, signal })),
    staleTime: 60_000,
  })
  const byId = new Map(data?.data.map((conversation) => [conversation.id, conversation]))
  return (id: string) => byId.get(id)
}
