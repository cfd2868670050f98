// Changes boards and their charts.

import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { type Board, boardKey, type Chart, type ChartInput } from './queries.ts'

type BoardChange = Partial<Pick<Board, 'name' | 'description' | 'filter' | 'compareTo'>> & { charts?: ChartInput[] }

export const updateBoard = (id: string, body: BoardChange): Promise<Board> =>
  answer(api.PATCH('/v1/boards/{id}', { params: { path: { id } }, body }))

/** Changes the currently stored charts, because someone else may have changed them in the meantime. */
export const changeCharts = async (id: string, change: (charts: ChartInput[]) => ChartInput[]): Promise<Board> => {
  const { charts } = await answer(api.GET('/v1/boards/{id}', { params: { path: { id } } }))
  return updateBoard(id, { charts: change(charts) })
}

/** Shows a change to the charts before it is saved. Returns the previous board. */
export const showCharts = async (id: string, change: (charts: Chart[]) => Chart[]): Promise<Board | undefined> => {
  await queryClient.cancelQueries({ queryKey: boardKey(id) })
  const before = queryClient.getQueryData<Board>(boardKey(id))
  if (before) queryClient.setQueryData(boardKey(id), { ...before, charts: change(before.charts) })
  return before
}

export const showBoard = (id: string, board: Board | undefined): void => {
  queryClient.setQueryData(boardKey(id), board)
}
