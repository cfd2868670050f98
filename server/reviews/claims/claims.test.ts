import { describe, expect, it } from 'vitest'
import { makeBucket, makeKey } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openReviewing } from '../../../test/support/reviews.ts'
import { minuteMs } from '../../platform/durations.ts'
import { jobList } from '../../worker.ts'
import { lapseReviews } from '../lifecycle.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock } = server
const { db, jobs } = server.deps

const reviewing = await openReviewing(server)
const { makeReviewer } = reviewing
type Reviewer = Awaited<ReturnType<typeof makeReviewer>>
const [ann, ben, eve] = [await makeReviewer(), await makeReviewer(), await makeReviewer()]

const claimed = async (reviewer: Reviewer, bucketId: string) => {
  const { status, body } = await reviewer.claim(bucketId)
  return status === 204 ? null : body
}

describe('a claim', () => {
  it('returns the oldest conversation first, another each time, and 204 if there is none', async () => {
    const { id, ids } = await reviewing.makeFilled(3)
    const first = await ann.claim(id)
    expect(first.status).toBe(200)
    expect(first.body).toEqual({
      id: expect.any(String),
      conversationId: ids[0],
      bucketId: id,
      reviewerUserId: ann.userId,
      status: 'in_progress',
      rating: null,
      notes: null,
      judgments: [],
      adjudicates: false,
      leaseExpiresAt: new Date(clock.now().getTime() + 30 * minuteMs).toISOString(),
      createdAt: clock.now().toISOString(),
      updatedAt: clock.now().toISOString(),
      completedAt: null,
    })
    expect(await reviewing.reviewStatus(ids[0] ?? '')).toBe('in_progress')
    expect((await ann.as('GET', `/v1/reviews/${first.body.id}`)).body).toEqual(first.body)
    expect((await claimed(ann, id))?.conversationId).toBe(ids[1])
    await ann.patch(first.body.id, { status: 'completed' })
    expect((await claimed(ann, id))?.conversationId).toBe(ids[2])
    expect((await ann.claim(id)).status).toBe(204)
    expect(await reviewing.reviewStatus(ids[0] ?? '')).toBe('completed')
  })

  it('by many at once gives each conversation to the required number of different people', async () => {
    const people = [ann, ben, eve, ...(await Promise.all(Array.from({ length: 3 }, () => makeReviewer())))]
    const { id, ids } = await reviewing.makeFilled(25, { reviewsPerConversation: 2 })
    const given: [string, string][] = []
    const work = async (person: Reviewer) => {
      for (;;) {
        // A person with two open windows can claim twice at the same time.
        const answers = await Promise.all([person.claim(id), person.claim(id)])
        const got = answers.filter(({ status }) => status === 200).map(({ body }) => body)
        expect(answers.every(({ status }) => status === 200 || status === 204)).toBe(true)
        if (got.length === 0) return
        for (const review of got) {
          given.push([review.conversationId, person.userId])
          expect((await person.patch(review.id, { status: 'completed', rating: 3 })).status).toBe(200)
        }
      }
    }
    await Promise.all(people.map(work))
    expect(given).toHaveLength(50)
    expect(new Set(given.map((pair) => pair.join())).size).toBe(50)
    for (const one of ids) expect(given.filter(([conversation]) => conversation === one)).toHaveLength(2)
    expect(await reviewing.progress(id)).toMatchObject({
      conversations: { total: 25, waiting: 0, adjudication: 0, completed: 25 },
      reviews: { waiting: 0, claimed: 0, completed: 50, completedToday: 50 },
    })
  })

  it('requires a reviewer of the bucket with a role that can write', async () => {
    const { id } = await reviewing.makeFilled(1, { reviewerUserIds: [ann.userId] })
    expect((await ben.claim(id)).status).toBe(403)
    const review = await claimed(ann, id)
    // A person who no longer belongs to the bucket can finish the current review, but can't resume other reviews.
    const settings = { key: reviewing.key, body: { reviewerUserIds: [ben.userId] } }
    expect((await call('PATCH', `/v1/buckets/${id}`, settings)).status).toBe(200)
    expect((await ann.post(review.id, 'heartbeat')).status).toBe(200)
    expect((await ann.post(review.id, 'release')).status).toBe(200)
    expect((await ann.post(review.id, 'heartbeat')).status).toBe(403)
    expect((await ann.patch(review.id, { status: 'completed' })).status).toBe(403)
    expect((await ben.claim(id)).status).toBe(200)
    const { key } = await makeKey(server, reviewing.key, 'viewer')
    expect((await call('POST', `/v1/buckets/${id}/claim`, { key })).status).toBe(403)
  })
})

describe('a lease', () => {
  it('that expired leaves its slot to the next, or to its reviewer if nobody claimed it', async () => {
    const { id, ids } = await reviewing.makeFilled(1)
    const review = await claimed(ann, id)
    await ann.patch(review.id, { notes: 'So far' })
    expect(await claimed(ben, id)).toBeNull()
    clock.advance(30 * minuteMs - 1)
    expect(await claimed(ben, id)).toBeNull()
    clock.advance(1)
    expect((await ann.as('GET', `/v1/reviews/${review.id}`)).body).toMatchObject({
      status: 'pending',
      leaseExpiresAt: null,
    })
    expect((await reviewing.progress(id)).reviews).toMatchObject({ waiting: 1, claimed: 0 })
    expect(await claimed(ann, id)).toMatchObject({ id: review.id, status: 'in_progress', notes: 'So far' })

    clock.advance(31 * minuteMs)
    const taken = await claimed(ben, id)
    expect(taken?.conversationId).toBe(ids[0])
    for (const refused of [
      await ann.post(review.id, 'heartbeat'),
      await ann.patch(review.id, { status: 'completed' }),
      await ann.patch(review.id, { notes: 'Late' }),
    ]) {
      expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    }
    expect(await claimed(ann, id)).toBeNull()
    expect((await ann.patch(review.id, { status: 'skipped' })).status).toBe(200)
    expect((await ben.patch(taken.id, { status: 'completed' })).status).toBe(200)
  })

  it('is extended by a heartbeat, even after its expiry if the slot is free', async () => {
    const { id } = await reviewing.makeFilled(1)
    const review = await claimed(ann, id)
    for (let beat = 0; beat < 3; beat++) {
      clock.advance(29 * minuteMs)
      expect((await ann.post(review.id, 'heartbeat')).body.leaseExpiresAt).toBe(
        new Date(clock.now().getTime() + 30 * minuteMs).toISOString(),
      )
      expect(await claimed(ben, id)).toBeNull()
    }
    clock.advance(45 * minuteMs)
    expect((await ann.post(review.id, 'heartbeat')).status).toBe(200)
    expect(await claimed(ben, id)).toBeNull()
    clock.advance(45 * minuteMs)
    expect((await ann.patch(review.id, { status: 'completed' })).status).toBe(200)
  })

  it('of two reviewers that both expired leaves two slots', async () => {
    const { id } = await reviewing.makeFilled(1, { reviewsPerConversation: 2 })
    const anns = await claimed(ann, id)
    clock.advance(10 * minuteMs)
    const bens = await claimed(ben, id)
    expect(await claimed(eve, id)).toBeNull()
    clock.advance(21 * minuteMs)
    const eves = await claimed(eve, id)
    expect(eves).not.toBeNull()
    expect((await ann.post(anns.id, 'heartbeat')).status).toBe(409)
    clock.advance(10 * minuteMs)
    expect((await ann.post(anns.id, 'heartbeat')).status).toBe(200)
    expect((await ben.post(bens.id, 'heartbeat')).status).toBe(409)
    expect((await eve.patch(eves.id, { status: 'completed' })).status).toBe(200)
    expect((await ann.patch(anns.id, { status: 'completed' })).status).toBe(200)
    expect((await ben.patch(bens.id, { status: 'completed' })).status).toBe(409)
  })

  it('that expired for one reviewer has expired for all, even on processes with slow clocks', async () => {
    const { id } = await reviewing.makeFilled(1)
    const anns = await claimed(ann, id)
    clock.advance(30 * minuteMs)
    const bens = await claimed(ben, id)
    // An earlier request can arrive late or at another process.
    clock.advance(-1)
    expect((await ann.patch(anns.id, { status: 'completed' })).status).toBe(409)
    clock.advance(1)
    expect((await ben.patch(bens.id, { status: 'completed' })).status).toBe(200)
    expect((await reviewing.progress(id)).reviews.completed).toBe(1)
  })

  it('that expired is stored by a job, and the conversation waits again', async () => {
    const { id, ids } = await reviewing.makeFilled(1)
    const review = await claimed(ann, id)
    const [conversation = ''] = ids
    clock.advance(31 * minuteMs)
    expect(await reviewing.reviewStatus(conversation)).toBe('in_progress')
    await jobs.enqueue(db, lapseReviews, {})
    await jobs.drain(jobList, server.deps)
    expect(await reviewing.reviewStatus(conversation)).toBe('pending')
    expect((await claimed(ann, id))?.id).toBe(review.id)
  })
})

describe('a returned review', () => {
  it('goes to someone else if skipped, and to anyone if released', async () => {
    const { id, ids } = await reviewing.makeFilled(1)
    const [conversation = ''] = ids
    const review = await claimed(ann, id)
    await ann.patch(review.id, { rating: 2 })
    expect(await ann.post(review.id, 'release')).toMatchObject({ status: 200, body: { status: 'pending', rating: 2 } })
    expect(await reviewing.reviewStatus(conversation)).toBe('pending')
    expect((await claimed(ann, id))?.id).toBe(review.id)
    expect((await ann.patch(review.id, { status: 'skipped' })).body.status).toBe('skipped')
    expect(await claimed(ann, id)).toBeNull()
    expect((await claimed(ben, id))?.conversationId).toBe(conversation)
    expect((await reviewing.progress(id)).reviewers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ reviewerUserId: ann.userId, skipped: 1, skippedToday: 1, claimed: 0 }),
        expect.objectContaining({ reviewerUserId: ben.userId, skipped: 0, claimed: 1 }),
      ]),
    )
  })

  it('is returned by a late request only if it was not resumed', async () => {
    const { id } = await reviewing.makeFilled(1)
    const review = await claimed(ann, id)
    const release = () => ann.post(review.id, `release?leaseExpiresAt=${review.leaseExpiresAt}`)
    clock.advance(1)
    const { body: kept } = await ann.post(review.id, 'heartbeat')
    expect(await release()).toMatchObject({ status: 200, body: kept })
    expect(await claimed(ben, id)).toBeNull()
    expect((await ann.post(review.id, `release?leaseExpiresAt=${kept.leaseExpiresAt}`)).body.status).toBe('pending')
    expect((await release()).status).toBe(409)
    expect(await claimed(ben, id)).not.toBeNull()
  })

  it('is deleted with its conversation, or if that is removed from the bucket', async () => {
    const { id, conversationId } = await makeBucket(server, reviewing.key)
    const review = await claimed(ann, id)
    const { key } = reviewing
    const path = `/v1/buckets/${id}/conversations/${conversationId}`
    expect((await call('DELETE', path, { key })).status).toBe(204)
    expect((await call('DELETE', path, { key })).status).toBe(404)
    expect((await ann.post(review.id, 'heartbeat')).status).toBe(404)
    expect(await reviewing.reviewStatus(conversationId)).toBe('none')

    const again = { conversationIds: [conversationId] }
    await call('POST', `/v1/buckets/${id}/conversations`, { key, body: again })
    const second = await claimed(ann, id)
    await ann.patch(second.id, { status: 'completed' })
    expect((await call('DELETE', `/v1/conversations/${conversationId}`, { key })).status).toBe(204)
    expect((await ann.as('GET', `/v1/reviews/${second.id}`)).status).toBe(404)
    expect((await reviewing.progress(id)).conversations.total).toBe(0)
  })
})
