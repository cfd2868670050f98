import { beforeEach, describe, expect, it } from 'vitest'
import { makeArms, makeConversation, makeLaunch, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

let key: string
let arms: Awaited<ReturnType<typeof makeArms>>
beforeEach(async () => {
  key = (await makeOrganization(server)).key
  arms = await makeArms(server, key)
})

const now = () => server.clock.now().toISOString()

const launch = async (fields: object = {}) => {
  const answer = await call('POST', '/v1/experiments', {
    key,
    body: await makeLaunch(server, key, { ...arms, ...fields }),
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

/** A call by the version of an arm. */
const converse = (arm: 'A' | 'B', fields: object = {}) =>
  makeConversation(server, key, {
    ...{ agent: undefined, agentId: arms.agentId, agentVersionId: arms[`arm${arm}VersionId`] },
    ...{ startedAt: now(), ...fields },
  })

const tell = async (monitorId: string, conversationId: string, result: string, fields: object = {}) => {
  const body = { results: [{ monitorId, conversationId, result, ...fields }] }
  const answer = await call('POST', '/v1/monitor-results', { key, body })
  expect(answer.body.data[0].error).toBeUndefined()
}

const read = async ({ id }: { id: string }) => {
  await server.drain()
  const answer = await call('GET', `/v1/experiments/${id}`, { key })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

describe('an experiment', () => {
  it('counts what each arm shows', async () => {
    const experiment = await launch({ expectedArmAPercent: 50 })
    const [monitorId] = experiment.outcomeMetricIds
    for (const [arm, results] of Object.entries({
      A: ['affected', 'not_affected', 'not_affected'],
      B: ['affected', 'affected'],
    })) {
      for (const result of results) await tell(monitorId, (await converse(arm as 'A' | 'B')).id, result)
    }
    await converse('B')
    const shown = await read(experiment)
    expect(shown).toMatchObject({ status: 'running', finishedAt: null, stableRoutingConfirmed: true })
    expect(shown.outcomes[0]).toMatchObject({
      metricId: monitorId,
      monitorVersion: 1,
      primary: true,
      arms: { a: { observed: 3, sum: 1, mean: 1 / 3, missing: 0 }, b: { observed: 2, sum: 2, missing: 1 } },
      difference: { estimate: 1 - 1 / 3 },
      verdict: { verdict: 'no_difference_shown' },
    })
    expect(shown.outcomes[0].timeline.at(-1)).toMatchObject({ observedA: 3, observedB: 2 })
    expect(shown.health).toMatchObject({
      concerns: [],
      sampleRatio: { status: 'too_few', units: { a: 3, b: 3 }, expectedA: 0.5 },
      conversations: { a: 3, b: 3 },
      withoutUnit: { a: 3, b: 3 },
    })
  })
})
