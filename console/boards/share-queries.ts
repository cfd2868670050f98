import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Share = Schemas['BoardShare']

const sharesKey = (boardId: string) => ['boards', boardId, 'shares']

export const sharesOptions = (boardId: string) =>
  listOptions<Share>(sharesKey(boardId), (cursor, signal) =>
    answer(
      api.GET('/v1/boards/{id}/shares', { params: { path: { id: boardId }, query: { limit: 50, ...cursor } }, signal }),
    ),
  )

export const createShare = async (boardId: string, companyId: string, expiresInDays: number) => {
  const params = { path: { id: boardId } }
  const share = await answer(api.POST('/v1/boards/{id}/shares', { params, body: { companyId, expiresInDays } }))
  await queryClient.invalidateQueries({ queryKey: sharesKey(boardId) })
  return share
}

export const revokeShare = async (boardId: string, shareId: string): Promise<void> => {
  await api.DELETE('/v1/boards/{id}/shares/{shareId}', { params: { path: { id: boardId, shareId } } })
  await queryClient.invalidateQueries({ queryKey: sharesKey(boardId) })
}
