import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { inOwnZone } from '../api/own-zone.ts'
import { instantIn, midnightIn, ownZone } from '../lib/zones.ts'

const shownDays = 15

/** Returns the query for the conversations of the last days until today, by day in the viewer's time zone. */
export const volumeOptions = () => {
  const bodyIn = (timezone: string) => {
    const midnight = (days: number) => instantIn(midnightIn(timezone, days), timezone) ?? ''
    return { filter: { since: midnight(1 - shownDays), until: midnight(1) }, interval: 'day' as const, timezone }
  }
  const { filter, interval, timezone } = bodyIn(ownZone())
  return queryOptions({
    queryKey: ['conversations', 'count', filter, interval, timezone],
    queryFn: ({ signal }) =>
      inOwnZone((zone) => answer(api.POST('/v1/conversations/count', { body: bodyIn(zone), signal }))),
  })
}

/** The maximum number of monitors on the overview. */
const maxMonitors = 24

export const enabledMonitorsOptions = queryOptions({
  queryKey: ['monitors', 'enabled'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/monitors', { params: { query: { enabled: true, limit: maxMonitors } }, signal })),
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
