import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Sound = Schemas['Sound']
export type Region = Schemas['ConversationRegion']

// Changes to the conversation also update its sound, because the sound's key starts with the conversation's key.
export const soundOptions = (id: string) =>
  queryOptions({
    queryKey: ['conversations', id, 'sound'],
    queryFn: ({ signal }) => answer(api.GET('/v1/conversations/{id}/sound', { params: { path: { id } }, signal })),
  })

export const regionsOptions = (id: string) =>
  listOptions(['conversations', id, 'regions'], (cursor, signal) =>
    answer(
      api.GET('/v1/conversations/{id}/regions', { params: { path: { id }, query: { limit: 200, ...cursor } }, signal }),
    ),
  )
