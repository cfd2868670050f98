import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { Fault, isRefusal } from '../api/fault.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Review = Schemas['Review']
export type Result = Schemas['MonitorResult']

export const myReviewsOptions = (reviewerUserId: string) =>
  listOptions(['reviews', 'of', reviewerUserId], (cursor, signal) =>
    answer(api.GET('/v1/reviews', { params: { query: { reviewerUserId, limit: 25, ...cursor } }, signal })),
  )

type ResultPage = { data: Result[]; nextCursor: string | null }

/** Requests all results of the monitors for a conversation. The server hides them while a blind review is open. */
export const reviewResultsOptions = (id: string) =>
  queryOptions({
    queryKey: ['conversations', id, 'results', 'room'],
    queryFn: async ({ signal }) => {
      const results: Result[] = []
      let cursor: string | null = null
      do {
        const params = { path: { id }, query: { limit: 200, ...(cursor !== null && { cursor }) } }
        const page: ResultPage = await answer(api.GET('/v1/conversations/{id}/results', { params, signal }))
        results.push(...page.data)
        cursor = page.nextCursor
      } while (cursor !== null)
      return results
    },
    // A later review of the same conversation may be blind.
    gcTime: 0,
  })

/** Requests the scorecards of a review, which reveal no results. Without the entitlement, there are none. */
export const reviewScorecardsOptions = (id: string) =>
  queryOptions({
    queryKey: ['reviews', id, 'scorecards'],
    queryFn: async ({ signal }) => {
      try {
        return (await answer(api.GET('/v1/reviews/{id}/scorecards', { params: { path: { id } }, signal }))).data
      } catch (error) {
        if (error instanceof Fault && error.status === 403) return []
        throw error
      }
    },
  })

/** The requests in progress, by review ID. */
const writing = new Map<string, Set<Promise<Review>>>()
/**
 * The end of each review's lease, as far as this page knows. A request may have extended it although its response was
 * lost.
 */
const leases = new Map<string, string>()

const note = ({ id, leaseExpiresAt }: Review) => {
  // Responses may arrive out of order.
  if (leaseExpiresAt !== null && leaseExpiresAt > (leases.get(id) ?? '')) leases.set(id, leaseExpiresAt)
}

const write = (id: string, sent: Promise<Review>): Promise<Review> => {
  const under = writing.get(id) ?? new Set()
  writing.set(id, under.add(sent))
  sent.then(note, (error: unknown) => !isRefusal(error) && leases.delete(id)).then(() => under.delete(sent))
  return sent
}

export const extendLease = (id: string): Promise<Review> =>
  write(id, answer(api.POST('/v1/reviews/{id}/heartbeat', { params: { path: { id } }, body: {} })))

const ignoreNotFound = (error: unknown): undefined => {
  if (error instanceof Fault && [400, 403, 404, 409].includes(error.status)) return undefined
  throw error
}

type Seat = { bucketId: string; me: string; present: string | undefined }

/**
 * Returns the given review, another one that the reviewer has claimed, or the next one. Returns null if there are none.
 */
export const claimReview = async ({ bucketId, me, present }: Seat): Promise<Review | null> => {
  if (present !== undefined) {
    const extended = await extendLease(present).catch(ignoreNotFound)
    if (extended?.bucketId === bucketId) return extended
  }
  const open = await answer(
    api.GET('/v1/reviews', {
      params: { query: { bucketId, reviewerUserId: me, status: 'in_progress', limit: 1 } },
    }),
  )
  const [first] = open.data
  const resumed = first && (await extendLease(first.id).catch(ignoreNotFound))
  if (resumed) return resumed
  const claimed = await answer(api.POST('/v1/buckets/{id}/claim', { params: { path: { id: bucketId } }, body: {} }))
  if (!claimed) return null
  note(claimed)
  return claimed
}

/** Returns whether someone else has claimed the review, or its conversation was erased. */
export const isLost = (error: unknown): error is Fault => error instanceof Fault && [404, 409].includes(error.status)

/** Releases a review. Waits for pending writes first, because they would claim the review again. */
export const releaseReview = async (id: string, bucketId: string): Promise<void> => {
  await Promise.allSettled(writing.get(id) ?? [])
  await sendRelease(id, bucketId)
}

/**
 * Releases a review. Also runs when the page is closed, because the browser still sends the request. If the page was
 * reloaded and has claimed the review again by then, the release has no effect. The exception is a write in progress,
 * because then the end of the lease is unknown.
 */
export const sendRelease = (id: string, bucketId: string): Promise<unknown> => {
  const leaseExpiresAt = writing.get(id)?.size ? undefined : leases.get(id)
  const query = leaseExpiresAt === undefined ? {} : { leaseExpiresAt }
  return (
    api
      .POST('/v1/reviews/{id}/release', { params: { path: { id }, query }, body: {}, keepalive: true })
      .then(() =>
        Promise.all([
          queryClient.invalidateQueries({ queryKey: ['buckets', bucketId] }),
          queryClient.invalidateQueries({ queryKey: ['reviews'] }),
        ]),
      )
      // A lease that has ended needs no release.
      .catch(() => undefined)
  )
}

type Change = {
  status?: 'completed' | 'skipped'
  rating?: number | null
  notes?: string | null
  judgments?: { monitorId: string; correctResult: Judged; comment: string | null }[]
}

export type Judged = 'affected' | 'not_affected' | 'unsure'

export const changeReview = (id: string, body: Change): Promise<Review> =>
  write(id, answer(api.PATCH('/v1/reviews/{id}', { params: { path: { id } }, body })))
