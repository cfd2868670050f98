import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { inOwnZone } from '../api/own-zone.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import type { Filter } from '../filters/filter.ts'

export type Board = Schemas['Board']
export type Chart = Schemas['BoardChart']
export type Analytics = Schemas['Analytics']
export type Group = Analytics['groups'][number]

const mostBoards = 200

export const boardsOptions = queryOptions({
  queryKey: ['boards', 'list'],
  queryFn: ({ signal }) => answer(api.GET('/v1/boards', { params: { query: { limit: mostBoards } }, signal })),
})

export const boardOptions = (id: string) =>
  queryOptions({
    queryKey: ['boards', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/boards/{id}', { params: { path: { id } }, signal })),
  })

export const refreshBoards = () => queryClient.invalidateQueries({ queryKey: ['boards'] })

type Shown = { filter: Filter; compareTo: 'previous_period' | 'previous_year' | undefined }

/** Queries a chart with the filter of its board. Fields of the chart's own filter replace those of the board. */
export const chartOptions = ({ query }: Chart, { filter, compareTo }: Shown) => {
  const body = { ...query, filter: { ...filter, ...query.filter }, ...(compareTo && { compareTo }) }
  return queryOptions({
    queryKey: ['analytics', body],
    queryFn: ({ signal }) =>
      inOwnZone((timezone) => answer(api.POST('/v1/analytics/query', { body: { ...body, timezone }, signal }))),
  })
}
