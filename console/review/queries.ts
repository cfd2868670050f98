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

/** What the monitors found of a conversation: kept back by the service while a blind review of it is awaited. */
export const foundOptions = (id: string) =>
  queryOptions({
    queryKey: ['conversations', id, 'results', 'room'],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { limit: 200 } }
      return (await answer(api.GET('/v1/conversations/{id}/results', { params, signal }))).data
    },
    // A later review of the same conversation may be a blind one.
    gcTime: 0,
  })

/** What is on its way still, by the id of its review. */
const writing = new Map<string, Set<Promise<Review>>>()
/** Until when each is held, where this page knows: an answer that was lost may have said that it is held for longer. */
const leases = new Map<string, string>()

const note = ({ id, leaseExpiresAt }: Review) => {
  // Answers may overtake each other.
  if (leaseExpiresAt !== null && leaseExpiresAt > (leases.get(id) ?? '')) leases.set(id, leaseExpiresAt)
}

const write = (id: string, sent: Promise<Review>): Promise<Review> => {
  const under = writing.get(id) ?? new Set()
  writing.set(id, under.add(sent))
  sent.then(note, (error: unknown) => !isRefusal(error) && leases.delete(id)).then(() => under.delete(sent))
  return sent
}

const keep = (id: string): Promise<Review> =>
  write(id, answer(api.POST('/v1/reviews/{id}/heartbeat', { params: { path: { id } }, body: {} })))

const unlessGone = (error: unknown): undefined => {
  if (error instanceof Fault && [400, 403, 404, 409].includes(error.status)) return undefined
  throw error
}

type Seat = { bucketId: string; me: string; present: string | undefined }

/** The review that was open before, one that is held still, or the next; null when there is none. */
export const takeReview = async ({ bucketId, me, present }: Seat): Promise<Review | null> => {
  if (present !== undefined) {
    const kept = await keep(present).catch(unlessGone)
    if (kept?.bucketId === bucketId) return kept
  }
  const held = await answer(
    api.GET('/v1/reviews', {
      params: { query: { bucketId, reviewerUserId: me, status: 'in_progress', limit: 1 } },
    }),
  )
  const [first] = held.data
  const resumed = first && (await keep(first.id).catch(unlessGone))
  if (resumed) return resumed
  const claimed = await answer(api.POST('/v1/buckets/{id}/claim', { params: { path: { id: bucketId } }, body: {} }))
  if (!claimed) return null
  note(claimed)
  return claimed
}

export const keepReview = keep

/** Whether it was lost to somebody else, or is gone with its conversation. */
export const isLost = (error: unknown): error is Fault => error instanceof Fault && [404, 409].includes(error.status)

/** After what is written, which would take the place again. */
export const releaseReview = async (id: string, bucketId: string): Promise<void> => {
  await Promise.allSettled(writing.get(id) ?? [])
  await sendRelease(id, bucketId)
}

/**
 * Also when the page is left: the browser sends it on. It may arrive after the page that is loaded next has taken the
 * review up again, and then gives nothing back, unless a write was under way still: until when that holds is not known.
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
      // What is not held any more needs no release.
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
