import { beforeEach, describe, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeConversation, makeMonitor } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { openReviewing } from '../../test/support/reviews.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call } = server

let reviewing: Awaited<ReturnType<typeof openReviewing>>
beforeEach(async () => {
  reviewing = await openReviewing(server)
})

type Answer = { status: number; body: { details?: { issues?: { path: string; message: string }[] } } }
const pathsOf = ({ status, body }: Answer) => [status, ...(body.details?.issues ?? []).map(({ path }) => path)]

describe('a review', () => {
  it('outside of buckets is created with one request, and announced', async () => {
    const ann = await reviewing.makeReviewer()
    const { key } = reviewing
    const endpoint = await makeActiveWebhookEndpoint(server, key, { events: ['review.completed'] })
    const { id: conversationId } = await makeConversation(server, key)
    const monitorId = await reviewing.makeJudge([conversationId])
    const { status, body } = await ann.as('POST', '/v1/reviews', {
      conversationId,
      status: 'completed',
      rating: 4,
      notes: 'Polite',
      judgments: [{ monitorId: monitorId.toUpperCase(), correctResult: 'not_affected', comment: 'A credit note' }],
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      conversationId,
      bucketId: null,
      reviewerUserId: ann.userId,
      status: 'completed',
      rating: 4,
      judgments: [{ monitorId, monitorVersion: 1, correctResult: 'not_affected', comment: 'A credit note' }],
      leaseExpiresAt: null,
      completedAt: server.clock.now().toISOString(),
    })
    expect(await reviewing.reviewStatus(conversationId)).toBe('completed')
    const list = await call('GET', `/v1/conversations/${conversationId}/reviews`, { key })
    expect(list.body).toEqual({ data: [body], nextCursor: null })
    const sent = await server.deps.db
      .selectFrom('webhook_deliveries')
      .select('body')
      .where('endpoint_id', '=', endpoint.id)
      .execute()
    expect(sent.map((delivery) => JSON.parse(delivery.body))).toMatchObject([{ type: 'review.completed', data: body }])
  })

  it('is listed by bucket, conversation, reviewer and status, in pages', async () => {
    const [ann, ben] = [await reviewing.makeReviewer(), await reviewing.makeReviewer()]
    const { id, ids } = await reviewing.makeFilled(3, { reviewsPerConversation: 2 })
    const made: string[] = []
    for (const person of [ann, ann, ben]) made.unshift((await person.claim(id)).body.id)
    await ann.patch(made[2] ?? '', { status: 'completed' })
    const list = async (query: string) => (await ann.as('GET', `/v1/reviews?${query}`)).body
    const idsOf = async (query: string) => (await list(query)).data.map((review: { id: string }) => review.id)
    expect(await idsOf('')).toEqual(made)
    expect(await idsOf(`bucketId=${id}&reviewerUserId=${ann.userId}`)).toEqual(made.slice(1))
    expect(await idsOf(`conversationId=${ids[0]}`)).toEqual([made[0], made[2]])
    expect(await idsOf('status=completed')).toEqual([made[2]])
    server.clock.advance(31 * 60_000)
    expect(await idsOf('status=pending')).toEqual(made.slice(0, 2))
    expect(await idsOf('status=in_progress')).toEqual([])
    const first = await list('limit=2')
    expect(await idsOf(`limit=2&cursor=${first.nextCursor}`)).toEqual(made.slice(2))
  })

  it('can only be changed by its reviewer', async () => {
    const [ann, ben] = [await reviewing.makeReviewer(), await reviewing.makeReviewer('admin')]
    const { id } = await reviewing.makeFilled(1)
    const review = (await ann.claim(id)).body
    for (const { status } of [
      await ben.patch(review.id, { rating: 1 }),
      await ben.post(review.id, 'heartbeat'),
      await ben.post(review.id, 'release'),
    ]) {
      expect(status).toBe(403)
    }
    expect((await ann.as('GET', `/v1/reviews/${review.id}`)).body).toEqual(review)
  })

  it('judges monitor versions with a result for the conversation, each once', async () => {
    const ann = await reviewing.makeReviewer()
    const { key } = reviewing
    const { id: conversationId } = await makeConversation(server, key)
    const monitorId = await reviewing.makeJudge([conversationId])
    const { id: silent } = await makeMonitor(server, key)
    const review = (await ann.as('POST', '/v1/reviews', { conversationId })).body
    const judge = (judgments: object[]) => ann.patch(review.id, { judgments })
    const said = { monitorId, correctResult: 'affected' }
    expect(pathsOf(await judge([{ ...said, monitorId: silent }, { ...said, monitorVersion: 2 }, said, said]))).toEqual([
      400,
      'judgments[0].monitorId',
      'judgments[1].monitorVersion',
      'judgments[3]',
    ])
    expect(pathsOf(await judge([{ ...said, correctResult: 'maybe' }]))[0]).toBe(400)
    expect((await judge([{ ...said, monitorVersion: 1 }])).body.judgments).toHaveLength(1)
    expect((await judge([])).body.judgments).toEqual([])
    const none = { conversationId: crypto.randomUUID() }
    expect(pathsOf(await ann.as('POST', '/v1/reviews', none))).toEqual([400, 'conversationId'])
    for (const body of [{ notes: 'x'.repeat(10_001) }, { rating: 0 }, { rating: 6 }, { rating: 2.5 }, {}]) {
      expect((await ann.patch(review.id, body)).status).toBe(400)
    }
  })

  it('in a bucket judges its monitors, with a note if the judgment differs from the result', async () => {
    const ann = await reviewing.makeReviewer()
    const { id, ids } = await reviewing.makeFilled(1)
    const [monitorId, silent] = [await reviewing.makeJudge(ids), await reviewing.makeJudge([])]
    const settings = { monitorIds: [monitorId, silent], noteOnDisagreement: true }
    expect((await call('PATCH', `/v1/buckets/${id}`, { key: reviewing.key, body: settings })).status).toBe(200)
    const review = (await ann.claim(id)).body
    const complete = (body: object = {}) => ann.patch(review.id, { status: 'completed', ...body })
    const differing = { monitorId, correctResult: 'not_affected' }
    expect(pathsOf(await complete())).toEqual([400, 'judgments'])
    expect(pathsOf(await complete({ judgments: [differing] }))).toEqual([400, 'judgments[0].comment'])
    const blank = { ...differing, comment: ' ' }
    expect(pathsOf(await complete({ judgments: [blank] }))).toEqual([400, 'judgments[0].comment'])
    // A rejected request changes nothing.
    expect((await ann.as('GET', `/v1/reviews/${review.id}`)).body).toEqual(review)
    expect((await complete({ judgments: [{ ...differing, comment: 'No refund' }] })).status).toBe(200)
  })
})

describe('a blind bucket', () => {
  it('hides judgments and results from a reviewer until they have submitted their own', async () => {
    const [ann, ben] = [await reviewing.makeReviewer(), await reviewing.makeReviewer()]
    const settings = { blind: true, reviewsPerConversation: 2, noteOnDisagreement: true }
    const { id, ids } = await reviewing.makeFilled(1, settings)
    const monitorId = await reviewing.makeJudge(ids)
    const [conversation] = ids
    const anns = (await ann.claim(id)).body
    const said = [{ monitorId, correctResult: 'affected' }]
    const results = `/v1/conversations/${conversation}/results`
    const findings = `/v1/conversations/${conversation}/findings`
    for (const path of [results, findings]) expect((await ann.as('GET', path)).status).toBe(403)
    expect((await ben.as('GET', findings)).status).toBe(200)
    expect((await ben.as('GET', results)).body.data).toHaveLength(1)
    // If the note were only required for a difference, this would reveal the result.
    const unnoted = await ann.patch(anns.id, { status: 'completed', judgments: said })
    expect(pathsOf(unnoted)).toEqual([400, 'judgments[0].comment'])
    await ann.patch(anns.id, { status: 'completed', notes: 'A refund', judgments: said })
    expect((await ann.as('GET', results)).body.data).toHaveLength(1)

    const bens = (await ben.claim(id)).body
    const idsOf = async (path: string) => (await ben.as('GET', path)).body.data.map((one: { id: string }) => one.id)
    for (const path of [`/v1/conversations/${conversation}/reviews`, '/v1/reviews']) {
      expect(await idsOf(path)).toEqual([bens.id])
    }
    expect((await ben.as('GET', `/v1/reviews/${anns.id}`)).status).toBe(403)
    await ben.post(bens.id, 'release')
    expect((await ben.as('GET', `/v1/reviews/${anns.id}`)).status).toBe(403)
    await ben.patch(bens.id, { status: 'completed', notes: 'Nothing', judgments: said })
    expect(await idsOf('/v1/reviews')).toEqual([bens.id, anns.id])
    expect((await ben.as('GET', `/v1/reviews/${anns.id}`)).status).toBe(200)
  })
})
