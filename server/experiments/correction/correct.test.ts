import { expect, it } from 'vitest'
import { makeMonitor } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openExperiments } from '../test-experiments.ts'

const server = await testServer()

/** Of so many conversations in each arm, the monitor finds every second one; people agree in A, and in B with none. */
const perArm = 40

it('corrects what a monitor found by reviews of sampled conversations, beside what it found', async () => {
  const own = await openExperiments(server)
  const { key } = own
  const { call } = server
  const monitor = await makeMonitor(server, key)
  const bucket = { name: 'A sample', type: 'sampled', share: 100, monitorIds: [monitor.id] }
  const { body: sampled } = await call('POST', '/v1/buckets', { key, body: bucket })
  const experiment = await own.launch({ outcomeMetricIds: [monitor.id], primaryMetricId: monitor.id })
  const inA = new Set<string>()
  for (const arm of ['A', 'B'] as const) {
    for (let count = 0; count < perArm; count++) {
      const id = await own.converse(arm)
      if (arm === 'A') inA.add(id)
      await own.tell(monitor.id, id, count % 2 === 0 ? 'affected' : 'not_affected')
    }
  }
  const before = (await own.read(experiment)).outcomes[0]
  expect(before).toMatchObject({ corrected: null, arms: { a: { mean: 0.5 }, b: { mean: 0.5 } } })

  for (let count = 0; count < 2 * perArm; count++) {
    const { status, body: review } = await call('POST', `/v1/buckets/${sampled.id}/claim`, { key })
    expect(status).toBe(200)
    const found = (await call('GET', `/v1/conversations/${review.conversationId}/results`, { key })).body.data[0].result
    const correctResult = inA.has(review.conversationId) ? found : 'not_affected'
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
