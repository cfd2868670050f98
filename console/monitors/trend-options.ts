import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { inOwnZone } from '../api/own-zone.ts'
import { intervalOf, type TimeRange, windowOf } from '../filters/range.ts'

/** The period that monitors show by default, in days. */
export const shownDays = 30

const trendQueryOf = (time: TimeRange) => {
  const { since, until } = windowOf(time)
  return since === undefined ? { until } : { since, until, interval: intervalOf(time) }
}

type TrendRequest = { time: TimeRange; version?: number | undefined }

/** Returns the query for a trend. Its days start in the viewer's time zone. */
export const trendOptions = (id: string, { time, version }: TrendRequest) =>
  queryOptions({
    queryKey: ['monitors', id, 'trend', time, version ?? null],
    queryFn: ({ signal }) =>
      inOwnZone((timezone) =>
        answer(
          api.GET('/v1/monitors/{id}/trend', {
            params: {
              path: { id },
              query: { ...trendQueryOf(time), timezone, ...(version !== undefined && { version }) },
            },
            signal,
          }),
        ),
      ),
    staleTime: 60_000,
  })
