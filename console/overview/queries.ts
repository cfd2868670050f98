import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { instantIn, midnightIn, ownZone } from '../lib/zones.ts'

export type Day = { start: string; end: string }

/** The last days until today, oldest first, from midnight to midnight of the viewer's zone. */
export const lastDays = (count: number): Day[] => {
  const zone = ownZone()
  const midnight = (daysAgo: number) => instantIn(midnightIn(zone, -daysAgo), zone) ?? ''
  return Array.from({ length: count }, (_, at) => count - 1 - at).map((daysAgo) => ({
    ...{ start: midnight(daysAgo), end: midnight(daysAgo - 1) },
  }))
}

/** More are not looked at here. */
const mostMonitors = 24

export const enabledMonitorsOptions = queryOptions({
  queryKey: ['monitors', 'enabled'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/monitors', { params: { query: { enabled: true, limit: mostMonitors } }, signal })),
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

export const failedExportsOptions = queryOptions({
  queryKey: ['exports', 'failed'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/monitor-exports', { params: { query: { status: 'failed', limit: 50 } }, signal })),
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
