import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Rule = Schemas['AlertRule']
export type AlertCondition = Rule['condition']
export type Incident = Schemas['AlertIncident']
export type IncidentWithTimeline = Schemas['AlertIncidentWithTimeline']
export type Preview = Schemas['AlertRulePreview']

export const rulesOptions = listOptions(['alert-rules', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/alert-rules', { params: { query: { limit: 100, ...cursor } }, signal })),
)

export const ruleOptions = (id: string) =>
  queryOptions({
    queryKey: ['alert-rules', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/alert-rules/{id}', { params: { path: { id } }, signal })),
  })

export const incidentsOptions = (status: Incident['status'] | undefined, ruleId?: string) =>
  listOptions(['alert-incidents', 'list', status, ruleId], (cursor, signal) =>
    answer(
      api.GET('/v1/alert-incidents', {
        params: { query: { limit: 50, ...(status && { status }), ...(ruleId && { ruleId }), ...cursor } },
        signal,
      }),
    ),
  )

export const incidentOptions = (id: string) =>
  queryOptions({
    queryKey: ['alert-incidents', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/alert-incidents/{id}', { params: { path: { id } }, signal })),
  })

export const incidentCommentsOptions = (id: string) =>
  listOptions(['alert-incidents', id, 'comments'], (cursor, signal) =>
    answer(
      api.GET('/v1/alert-incidents/{id}/comments', {
        params: { path: { id }, query: { limit: 100, ...cursor } },
        signal,
      }),
    ),
  )

type PreviewRequest = NonNullable<Parameters<typeof requestPreview>[0]>

const requestPreview = (body: {
  condition: AlertCondition
  filter: Rule['filter']
  groupBy: Rule['groupBy']
  windowMinutes: number
  minimumSample: number
}) => answer(api.POST('/v1/alert-rules/preview', { body }))

export const previewOptions = (body: PreviewRequest) =>
  queryOptions({
    queryKey: ['alert-rules', 'preview', body],
    queryFn: () => requestPreview(body),
    staleTime: 60_000,
    retry: false,
  })

export const refreshAlerts = () =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: ['alert-rules'] }),
    queryClient.invalidateQueries({ queryKey: ['alert-incidents'] }),
  ])
