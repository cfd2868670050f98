import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { inOwnZone } from '../api/own-zone.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Shared = Schemas['SharedBoard']

const refreshMs = 60_000

/** The page has no event stream, so it requests its data again from time to time. */
const kept = { refetchInterval: refreshMs, staleTime: refreshMs }

export const sharedBoardOptions = (token: string) =>
  queryOptions({
    queryKey: ['shared-board', token],
    queryFn: ({ signal }) => answer(api.POST('/v1/shared-board', { body: { token }, signal })),
    ...kept,
  })

export const sharedChartOptions = (token: string, chartId: string) =>
  queryOptions({
    queryKey: ['shared-board', token, chartId],
    queryFn: ({ signal }) =>
      inOwnZone((timezone) =>
        answer(api.POST('/v1/shared-board/query', { body: { token, chartId, timezone }, signal })),
      ),
    ...kept,
  })
