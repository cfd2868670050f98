import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { inOwnZone } from '../api/own-zone.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import type { Filter } from '../filters/filter.ts'

export type Board = Schemas['Board']
export type Chart = Schemas['BoardChart']
export type Query = Chart['query']
export type Measure = Query['measure']
export type Analytics = Schemas['Analytics']
export type Group = Analytics['groups'][number]
export type Change = Schemas['Change']
/** A chart that may not be stored yet. */
export type ChartInput = Omit<Chart, 'id'> & { id?: string }

const mostBoards = 200
/** The API's limit. */
export const mostCharts = 24

export const boardsOptions = queryOptions({
  queryKey: ['boards', 'list'],
  queryFn: ({ signal }) => answer(api.GET('/v1/boards', { params: { query: { limit: mostBoards } }, signal })),
})

export const boardKey = (id: string) => ['boards', id]

export const boardOptions = (id: string) =>
  queryOptions({
    queryKey: boardKey(id),
    queryFn: ({ signal }) => answer(api.GET('/v1/boards/{id}', { params: { path: { id } }, signal })),
  })

export const refreshBoards = () => queryClient.invalidateQueries({ queryKey: ['boards'] })

type CompareTo = NonNullable<Schemas['AnalyticsQuery']['compareTo']>

export type Shown = { filter: Filter; compareTo: CompareTo | undefined }

/** Returns the filter for a chart. Its own fields replace those of the board. */
export const filterOfChart = ({ query }: Pick<Chart, 'query'>, { filter }: Pick<Shown, 'filter'>): Filter => ({
  ...filter,
  ...query.filter,
})

/** Returns the filter with its period in a time zone. */
export const inZone = ({ period, ...filter }: Filter, timezone: string): Filter =>
  period ? { ...filter, period: { ...period, timezone } } : filter

/** Queries a chart with its board's filter. Days start in the viewer's time zone. */
export const chartOptions = (chart: Pick<Chart, 'query'>, shown: Shown) => {
  const { filter: _, ...query } = chart.query
  const body = { ...query, filter: filterOfChart(chart, shown), ...(shown.compareTo && { compareTo: shown.compareTo }) }
  return queryOptions({
    queryKey: ['analytics', body],
    queryFn: ({ signal }) =>
      inOwnZone((timezone) => {
        const zoned = { ...body, filter: inZone(body.filter, timezone), timezone }
        return answer(api.POST('/v1/analytics/query', { body: zoned, signal }))
      }),
  })
}

/** Requests an explanation of the difference between a chart and the earlier period. */
export const changeOptions = (chart: Pick<Chart, 'query'>, shown: Shown) => {
  const filter = filterOfChart(chart, shown)
  const body = { measure: chart.query.measure, filter, ...(shown.compareTo && { compareTo: shown.compareTo }) }
  return queryOptions({
    queryKey: ['analytics', 'explain', body],
    queryFn: ({ signal }) =>
      inOwnZone((timezone) => {
        const zoned = { ...body, filter: inZone(filter, timezone), timezone }
        return answer(api.POST('/v1/analytics/explain', { body: zoned, signal }))
      }),
  })
}
