import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { inOwnZone } from '../api/own-zone.ts'
import { listOptions } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Bucket = Schemas['Bucket']
export type BucketState = Schemas['BucketConversation']['status']

/** Requests all buckets. There are at most 100. */
export const bucketsOptions = queryOptions({
  queryKey: ['buckets', 'all'],
  queryFn: async ({ signal }) =>
    (await answer(api.GET('/v1/buckets', { params: { query: { limit: 200 } }, signal }))).data,
})

export const bucketOptions = (id: string) =>
  queryOptions({
    queryKey: ['buckets', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/buckets/{id}', { params: { path: { id } }, signal })),
  })

export const progressOptions = (id: string) =>
  queryOptions({
    queryKey: ['buckets', id, 'progress'],
    queryFn: ({ signal }) =>
      inOwnZone((timezone) =>
        answer(api.GET('/v1/buckets/{id}/progress', { params: { path: { id }, query: { timezone } }, signal })),
      ),
  })

export const bucketConversationsOptions = (id: string, status: BucketState | undefined) =>
  listOptions(['buckets', id, 'conversations', status ?? 'all'], (cursor, signal) =>
    answer(
      api.GET('/v1/buckets/{id}/conversations', {
        params: { path: { id }, query: { limit: 25, ...(status && { status }), ...cursor } },
        signal,
      }),
    ),
  )

/** Requests the agent and customer of a bucket's latest conversations, by conversation ID. */
export const newestOfBucketOptions = (id: string) =>
  queryOptions({
    queryKey: ['buckets', id, 'newest'],
    queryFn: async ({ signal }) => {
      const { data } = await answer(
        api.POST('/v1/conversations/search', { body: { filter: { bucketId: id }, limit: 200 }, signal }),
      )
      return new Map(data.map((conversation) => [conversation.id, conversation]))
    },
  })

export type Review = Schemas['Review']

/** Requests the reviews of a conversation in a bucket. */
export const bucketReviewsOptions = (bucketId: string, conversationId: string) =>
  queryOptions({
    queryKey: ['buckets', bucketId, 'said', conversationId],
    queryFn: async ({ signal }) => {
      const query = { bucketId, conversationId, status: 'completed' as const, limit: 200 }
      return (await answer(api.GET('/v1/reviews', { params: { query }, signal }))).data
    },
  })
