import { beforeEach, describe, expect, it } from 'vitest'
import { makeDispute } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openReviewing } from '../../../test/support/reviews.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call } = server

let reviewing: Awaited<ReturnType<typeof openReviewing>>
beforeEach(async () => {
  reviewing = await openReviewing(server)
})

describe('two reviews that differ', () => {
  it('are adjudicated once by a third person, and that decision counts', async () => {
    const { key } = reviewing
    const third = await reviewing.makeReviewer()
    const { id, conversationId, monitorId, reviewIds } = await makeDispute(server, key)
    const [first = ''] = reviewIds
    expect((await reviewing.progress(id)).conversations).toMatchObject({ waiting: 0, adjudication: 1, completed: 0 })
    expect(await reviewing.reviewStatus(conversationId)).toBe('in_progress')
    expect((await third.claim(id)).status).toBe(204)

    const agreement = async () => (await call('GET', `/v1/monitors/${monitorId}/agreement`, { key })).body.data[0]
    expect(await agreement()).toMatchObject({ judgments: 2, matrix: { truePositives: 1, falsePositives: 1 } })

    const judgments = [{ monitorId, correctResult: 'not_affected', comment: 'A credit note' }]
    const decided = await third.post(first, 'adjudicate', { judgments, notes: 'Seen with both' })
    expect(decided).toMatchObject({
      status: 201,
      body: { adjudicates: true, status: 'completed', bucketId: id, reviewerUserId: third.userId },
    })
    const after = await reviewing.progress(id)
    expect(after.conversations).toMatchObject({ adjudication: 0, completed: 1 })
    expect(after.reviewers).toContainEqual(
      expect.objectContaining({ reviewerUserId: third.userId, completed: 0, adjudicated: 1 }),
    )
    expect(await reviewing.reviewStatus(conversationId)).toBe('completed')
    expect((await third.post(first, 'adjudicate', { judgments })).status).toBe(409)

    const agreed = await agreement()
    expect(agreed).toMatchObject({ judgments: 1, matrix: { truePositives: 0, falsePositives: 1 } })
    // The agreement between people still reflects that the two differed.
    const { conversations, pairs, krippendorffsAlpha } = agreed.betweenPeople
    expect([conversations, pairs.length, pairs[0].agreement.value]).toEqual([1, 1, 0])
    expect(krippendorffsAlpha).toEqual({ value: 0, low: null, high: null, conversations: 1, judgments: 2 })
  })

  it('cannot be adjudicated by one of the two, by a non-reviewer, or without a decision on every difference', async () => {
    const { key } = reviewing
    const [lead, outsider] = [await reviewing.makeReviewer('admin'), await reviewing.makeReviewer()]
    const { id, monitorId, conversationId, reviewIds } = await makeDispute(server, key)
    const [first = ''] = reviewIds
    const { reviewerUserId } = (await lead.as('GET', `/v1/reviews/${first}`)).body
    const judgments = [{ monitorId, correctResult: 'affected' }]
    const settings = { key, body: { reviewerUserIds: [reviewerUserId] } }
    expect((await call('PATCH', `/v1/buckets/${id}`, settings)).status).toBe(200)
    expect((await outsider.post(first, 'adjudicate', { judgments })).status).toBe(403)
    const beside = [{ monitorId: await reviewing.makeJudge([conversationId]), correctResult: 'affected' }]
    expect((await lead.post(first, 'adjudicate', { judgments: beside })).status).toBe(400)
    expect((await reviewing.progress(id)).conversations).toMatchObject({ adjudication: 1 })
    expect((await lead.post(first, 'adjudicate', { judgments })).status).toBe(201)
  })

  it('can be adjudicated even if the monitor was deleted since', async () => {
    const { key } = reviewing
    const lead = await reviewing.makeReviewer('admin')
    const { id, monitorId, reviewIds } = await makeDispute(server, key)
    expect((await call('DELETE', `/v1/monitors/${monitorId}`, { key })).status).toBe(204)
    const judgments = [{ monitorId, correctResult: 'affected' }]
    expect((await lead.post(reviewIds[0] ?? '', 'adjudicate', { judgments })).status).toBe(201)
    expect((await reviewing.progress(id)).conversations).toMatchObject({ adjudication: 0, completed: 1 })
  })

  it('cannot be adjudicated if all agree, or outside of buckets', async () => {
    const [ann, ben] = [await reviewing.makeReviewer(), await reviewing.makeReviewer()]
    const { id, ids } = await reviewing.makeFilled(1, { reviewsPerConversation: 2 })
    const monitorId = await reviewing.makeJudge(ids)
    const judgments = [{ monitorId, correctResult: 'affected' }]
    const reviewIds: string[] = []
    for (const person of [ann, ben]) {
      const review = (await person.claim(id)).body
      expect((await person.patch(review.id, { status: 'completed', judgments })).status).toBe(200)
      expect((await person.post(review.id, 'adjudicate', { judgments })).status).toBe(403)
      reviewIds.push(review.id)
    }
    expect((await reviewing.progress(id)).conversations).toMatchObject({ adjudication: 0, completed: 1 })
    const lead = await reviewing.makeReviewer('admin')
    expect((await lead.post(reviewIds[0] ?? '', 'adjudicate', { judgments })).status).toBe(409)
    const outside = await ann.as('POST', '/v1/reviews', {
      conversationId: ids[0],
      status: 'completed',
      judgments: [{ monitorId, correctResult: 'not_affected' }],
    })
    expect((await lead.post(outside.body.id, 'adjudicate', { judgments })).status).toBe(409)
    // A person's later judgment replaces their earlier one.
    const [version] = (await call('GET', `/v1/monitors/${monitorId}/agreement`, { key: reviewing.key })).body.data
    expect(version).toMatchObject({ judgments: 2, matrix: { truePositives: 1, falsePositives: 1 } })
  })
})
