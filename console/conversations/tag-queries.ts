import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'

export const knownTagsOptions = (prefix: string) =>
  queryOptions({
    queryKey: ['conversation-tags', prefix],
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/v1/conversation-tags', { params: { query: prefix === '' ? {} : { prefix } }, signal })))
        .data,
    staleTime: 30_000,
  })

export const tagsOfOptions = (id: string) =>
  queryOptions({
    queryKey: ['conversations', id, 'tags'],
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/v1/conversations/{id}/tags', { params: { path: { id } }, signal }))).tags,
  })

export const putTags = async (id: string, tags: string[]): Promise<void> => {
  await answer(api.PUT('/v1/conversations/{id}/tags', { params: { path: { id } }, body: { tags } }))
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['conversations', id, 'tags'] }),
    queryClient.invalidateQueries({ queryKey: ['conversations', 'search'] }),
    queryClient.invalidateQueries({ queryKey: ['conversation-tags'] }),
  ])
}
