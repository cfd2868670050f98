import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Conversation = Schemas['Conversation']
/** A conversation with the data that the search includes. */
export type Found = Schemas['FoundConversation']

export const pageSize = 100

export type Included = 'results' | 'metrics' | 'findings' | 'tags' | 'topic' | 'excerpt' | 'cost' | 'sound'

/** A list of conversations, without its position. */
export type Listing = { filter: Schemas['Filter']; sort?: Schemas['Sort']; include: Included[] }

const searchConversations = (listing: Listing, cursor: { cursor?: string }, signal: AbortSignal) =>
  answer(api.POST('/v1/conversations/search', { body: { ...listing, limit: pageSize, ...cursor }, signal }))

export const conversationsOptions = (listing: Listing) => ({
  ...listOptions(['conversations', 'search', listing], (cursor, signal) =>
    searchConversations(listing, cursor, signal),
  ),
  // The page offers new conversations separately, so the list doesn't have to be refetched.
  refetchOnWindowFocus: false,
})

/** Returns the current first page of the list. */
export const newestConversations = (listing: Listing, signal: AbortSignal) => searchConversations(listing, {}, signal)

export const conversationOptions = (id: string) =>
  queryOptions({
    queryKey: ['conversations', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/conversations/{id}', { params: { path: { id } }, signal })),
  })

export const transcriptOptions = (id: string) =>
  queryOptions({
    queryKey: ['conversations', id, 'transcript'],
    queryFn: ({ signal }) => answer(api.GET('/v1/conversations/{id}/transcript', { params: { path: { id } }, signal })),
    staleTime: 60_000,
  })

export const resultsOptions = (id: string) =>
  listOptions(['conversations', id, 'results'], (cursor, signal) =>
    answer(
      api.GET('/v1/conversations/{id}/results', { params: { path: { id }, query: { limit: 200, ...cursor } }, signal }),
    ),
  )

export type Result = Schemas['MonitorResult']

export const metricsOptions = (id: string) =>
  listOptions(['conversations', id, 'metrics'], (cursor, signal) =>
    answer(
      api.GET('/v1/conversations/{id}/metrics', { params: { path: { id }, query: { limit: 200, ...cursor } }, signal }),
    ),
  )

export const findingsOfOptions = (id: string) =>
  listOptions(['conversations', id, 'findings'], (cursor, signal) =>
    answer(api.GET('/v1/conversations/{id}/findings', { params: { path: { id }, query: cursor }, signal })),
  )

export const reviewsOfOptions = (id: string) =>
  listOptions(['conversations', id, 'reviews'], (cursor, signal) =>
    answer(api.GET('/v1/conversations/{id}/reviews', { params: { path: { id }, query: cursor }, signal })),
  )

/** The findings to which a conversation can be attached, latest first. Closed ones are excluded. */
export const openFindingsOptions = queryOptions({
  queryKey: ['findings', 'open'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/findings', { params: { query: { status: 'open,acknowledged', limit: 200 } }, signal })),
})
