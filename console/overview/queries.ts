import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'

/** The maximum number of monitors on the overview. */
const maxMonitors = 24

export const enabledMonitorsOptions = queryOptions({
  queryKey: ['monitors', 'enabled'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/monitors', { params: { query: { enabled: true, limit: maxMonitors } }, signal })),
})

export const firingOptions = queryOptions({
  queryKey: ['alert-incidents', 'firing'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/alert-incidents', { params: { query: { status: 'firing', limit: 20 } }, signal })),
})

export const openStatuses = 'open,acknowledged'

export const openFindingsOptions = queryOptions({
  queryKey: ['findings', 'all-open'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/findings', { params: { query: { status: openStatuses, limit: 200 } }, signal })),
})

export const runningOptions = queryOptions({
  queryKey: ['experiments', 'running'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/experiments', { params: { query: { status: 'running', limit: 10 } }, signal })),
})

/** Exports of monitor results need the entitlement. */
export const failedExportsOptions = (hasMonitors: boolean) =>
  queryOptions({
    queryKey: ['exports', 'failed', hasMonitors],
    queryFn: async ({ signal }) => {
      const params = { query: { status: 'failed', limit: 50 } } as const
      const [lists, results] = await Promise.all([
        answer(api.GET('/v1/conversation-exports', { params, signal })),
        hasMonitors ? answer(api.GET('/v1/monitor-exports', { params, signal })) : { data: [] },
      ])
      return [...lists.data, ...results.data]
    },
  })

export const failedDeliveriesOptions = (id: string) =>
  queryOptions({
    queryKey: ['webhook-endpoints', id, 'newest-failed'],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/v1/webhook-endpoints/{id}/deliveries', {
          params: { path: { id }, query: { status: 'failed', limit: 200 } },
          signal,
        }),
      ),
  })

/** The newest conversations, for the first day. */
export const newestOptions = queryOptions({
  queryKey: ['conversations', 'newest', 'overview'],
  queryFn: ({ signal }) =>
    answer(api.POST('/v1/conversations/search', { body: { filter: {}, limit: 5, include: ['results'] }, signal })),
})
