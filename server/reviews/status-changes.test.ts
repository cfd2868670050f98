import { expect, it } from 'vitest'
import { testServer } from '../../test/server.ts'
import { openReviewing } from '../../test/support/reviews.ts'
import type { ReviewStatus } from '../buckets/review-status/queries.ts'
import { canMove } from './lifecycle.ts'
import { reviewStatuses } from './schema.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const reviewing = await openReviewing(server)
const ann = await reviewing.makeReviewer()

type Request = (id: string) => Promise<{ status: number; body: { status: string } }>

/** The requests that move a review to each state. */
const requests: Record<ReviewStatus, Request[]> = {
  pending: [(id) => ann.post(id, 'release')],
  in_progress: [(id) => ann.post(id, 'heartbeat'), (id) => ann.patch(id, { rating: 3 })],
  completed: [(id) => ann.patch(id, { status: 'completed' })],
  skipped: [(id) => ann.patch(id, { status: 'skipped' })],
}

const begin = {
  'in a bucket': async () => {
    const { id } = await reviewing.makeFilled(1)
    return (await ann.claim(id)).body.id as string
  },
  'outside of buckets': async () => {
    const { ids } = await reviewing.makeFilled(1)
    return (await ann.as('POST', '/v1/reviews', { conversationId: ids[0] })).body.id as string
  },
}

const places = ['in a bucket', 'outside of buckets'] as const
const pairs = places.flatMap((place) =>
  reviewStatuses.flatMap((from) => reviewStatuses.map((to) => ({ place, from, to }))),
)

it.each(pairs)('a review $place that is $from is moved to $to, or rejected, as in the table', async (pair) => {
  const { place, from, to } = pair
  for (const request of requests[to]) {
    const id = await begin[place]()
    if (from !== 'in_progress') await requests[from][0]?.(id)
    const before = (await ann.as('GET', `/v1/reviews/${id}`)).body
    expect(before.status).toBe(from)
    const { status, body } = await request(id)
    // Completing a released review also claims it again.
    const isAllowed = canMove(from, to) || (from === 'pending' && to === 'completed')
    expect([status, body.status]).toEqual(isAllowed ? [200, to] : [409, undefined])
    if (!isAllowed) expect((await ann.as('GET', `/v1/reviews/${id}`)).body).toEqual(before)
  }
})
