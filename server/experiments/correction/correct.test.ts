import { expect, it } from 'vitest'
import { makeConversations, makeMonitor } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openExperiments } from '../../../test/support/experiments/experiments.ts'

const server = await testServer()

/**
 * The number of conversations in each arm. The monitor marks every second one as affected. People always agree with it
 * in arm A, and never in arm B. Smaller samples are not corrected.
 */
const perArm = 30

type Own = Awaited<ReturnType<typeof openExperiments>>

/** Creates conversations in both arms. `found` returns the result for a conversation's number. */
const fill = async ({ key, arms }: Own, monitorId: string, found: (count: number) => string) => {
  const startedAt = server.clock.now().toISOString()
  const each = [arms.armAVersionId, arms.armBVersionId].flatMap((agentVersionId) =>
    Array.from({ length: perArm }, () => ({ agent: undefined, agentId: arms.agentId, agentVersionId, startedAt })),
  )
  const ids = await makeConversations(server, key, each)
  const results = ids.map((conversationId, at) => ({ monitorId, conversationId, result: found(at % perArm) }))
  const told = await server.call('POST', '/v1/monitor-results', { key, body: { results } })
  for (const { status } of told.body.data) expect(status).toBe('created')
  return { ids, found: new Map(results.map(({ conversationId, result }) => [conversationId, result])) }
}

it('corrects results by reviews of sampled conversations, next to the uncorrected ones', async () => {
  const own = await openExperiments(server)
  const { key } = own
  const { call } = server
  const monitor = await makeMonitor(server, key)
  const bucket = { name: 'A sample', type: 'sampled', share: 100, monitorIds: [monitor.id] }
  const { body: sampled } = await call('POST', '/v1/buckets', { key, body: bucket })
  const experiment = await own.launch({ outcomeMetricIds: [monitor.id], primaryMetricId: monitor.id })
  const { ids, found } = await fill(own, monitor.id, (count) => (count % 2 === 0 ? 'affected' : 'not_affected'))
  const inA = new Set(ids.slice(0, perArm))
  const before = (await own.read(experiment)).outcomes[0]
  expect(before).toMatchObject({ corrected: null, arms: { a: { mean: 0.5 }, b: { mean: 0.5 } } })

  for (let count = 0; count < 2 * perArm; count++) {
    const { status, body: review } = await call('POST', `/v1/buckets/${sampled.id}/claim`, { key })
    expect(status).toBe(200)
    const correctResult = inA.has(review.conversationId) ? found.get(review.conversationId) : 'not_affected'
    const body = { status: 'completed', judgments: [{ monitorId: monitor.id, correctResult }] }
    const answer = await call('PATCH', `/v1/reviews/${review.id}`, { key, body })
    expect(answer.status, answer.text).toBe(200)
  }
  const { corrected, difference } = (await own.read(experiment)).outcomes[0]
  expect(difference.estimate).toBe(0)
  expect(corrected).toMatchObject({ reviewedA: perArm, reviewedB: perArm, shareReviewedA: 1, shareReviewedB: 1 })
  expect(corrected.meanA).toBeCloseTo(0.5, 12)
  expect(corrected.meanB).toBeCloseTo(0, 12)
  expect(corrected.estimate).toBeCloseTo(-0.5, 12)
  expect(corrected.fixed.high).toBeLessThan(0)

  const trend = (await call('GET', `/v1/monitors/${monitor.id}/trend`, { key })).body
  expect(trend.corrected).toBeNull()
  server.clock.advance(60_000)
  const later = (await call('GET', `/v1/monitors/${monitor.id}/trend`, { key })).body
  expect(later.corrected).toMatchObject({ reviewed: 2 * perArm, shareReviewed: 1, rate: expect.closeTo(0.25, 12) })
  expect(later.corrected.low).toBeLessThan(0.25)
  expect(later.corrected.high).toBeGreaterThan(0.25)
})

it('only uses samples of everything it observes, with the latest judgments', async () => {
  const own = await openExperiments(server)
  const { key } = own
  const { call } = server
  const monitor = await makeMonitor(server, key)
  const { agentId } = own.arms
  const make = async (fields: object) =>
    (
      await call('POST', '/v1/buckets', {
        key,
        body: { name: crypto.randomUUID(), type: 'sampled', share: 100, ...fields },
      })
    ).body.id as string
  const affected = await make({ filters: { monitors: [{ id: monitor.id, result: 'affected' }] } })
  const all = await make({ agentId })
  const experiment = await own.launch({ outcomeMetricIds: [monitor.id], primaryMetricId: monitor.id })
  const { ids } = await fill(own, monitor.id, () => 'affected')
  await server.drain()
  const judgments = (correctResult: string) => [{ monitorId: monitor.id, correctResult }]
  const review = async (bucketId: string, count: number) => {
    for (; count > 0; count--) {
      const { body } = await call('POST', `/v1/buckets/${bucketId}/claim`, { key })
      await call('PATCH', `/v1/reviews/${body.id}`, {
        key,
        body: { status: 'completed', judgments: judgments('affected') },
      })
    }
  }
  const corrected = async () => (await own.read(experiment)).outcomes[0].corrected
  const ofWindow = async () => (await call('GET', `/v1/monitors/${monitor.id}/trend`, { key })).body.corrected
  server.clock.advance(60_000)
  await review(affected, ids.length)
  expect([await corrected(), await ofWindow()]).toEqual([null, null])

  await review(all, ids.length)
  expect(await corrected()).toMatchObject({ reviewedA: perArm, reviewedB: perArm, meanA: 1 })
  // A sample of one agent is fair for a monitor that only evaluates that agent.
  expect(await ofWindow()).toBeNull()
  const scope = { agentIds: [agentId] }
  expect((await call('PATCH', `/v1/monitors/${monitor.id}`, { key, body: { scope } })).status).toBe(200)
  expect(await ofWindow()).toMatchObject({ reviewed: ids.length, rate: 1 })
  // A reviewer corrects a mistake in another review, outside buckets. The conversation stays in the sample.
  const again = { conversationId: ids[0], status: 'completed', judgments: judgments('not_affected') }
  expect((await call('POST', '/v1/reviews', { key, body: again })).status).toBe(201)
  expect(await corrected()).toMatchObject({ reviewedA: perArm, meanA: expect.closeTo(1 - 1 / perArm, 12) })

  // Conversations that were added before the filters changed are not part of the sample.
  await call('PATCH', `/v1/buckets/${affected}`, { key, body: { filters: {} } })
  await call('PATCH', `/v1/buckets/${all}`, { key, body: { agentId: null, filters: { channels: ['call'] } } })
  expect(await corrected()).toBeNull()
})
