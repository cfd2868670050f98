import { beforeEach, describe, expect, it } from 'vitest'
import { impolite, serverWithModel, turns } from '../../../test/support/evaluations/evaluations.ts'
import { type Experiments, openExperiments } from '../../../test/support/experiments/experiments.ts'
import { Refusal } from '../../../test/support/monitors/model-server.ts'
import { jobList } from '../../worker.ts'
import { countAll } from '../observations/counter-loop.ts'

const { server, asked, answerBy, makeRule, makeJudge } = await serverWithModel()
const { call, clock } = server

let own: Experiments
let key: string
beforeEach(async () => {
  own = await openExperiments(server)
  key = own.key
  answerBy(() => impolite())
})

const only = (monitorId: string) => ({ outcomeMetricIds: [monitorId], primaryMetricId: monitorId })
const armsOf = async (experiment: { id: string }, at = 0) => (await own.read(experiment)).outcomes[at].arms
const path = ({ id }: { id: string }) => `/v1/experiments/${id}/evaluations`
const retry = (experiment: { id: string }) => call('POST', path(experiment), { key })
const runsOf = async (experiment: { id: string }) => (await call('GET', path(experiment), { key })).body.data

describe('a retry', () => {
  it('is rejected while one runs, whatever is pending, and leaves nothing pending when it ends', async () => {
    const judge = await makeJudge(key)
    const experiment = await own.launch(only(judge.id))
    answerBy(() => new Refusal(400))
    for (let count = 0; count < 4; count++) await own.converse('A', { transcript: turns })
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 4 } })
    clock.advance(1_000)
    await own.finish(experiment)
    clock.advance(1_000)
    answerBy(() => new Refusal(503))
    expect((await retry(experiment)).status).toBe(202)
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 0, pending: 4 } })
    expect((await retry(experiment)).status).toBe(409)
    answerBy(async () => {
      await countAll(server.deps)
      return new Refusal(400)
    })
    const ticking = {
      now: () => {
        clock.advance(1)
        return clock.now()
      },
    }
    await server.deps.jobs.drain(jobList, { ...server.deps, clock: ticking }, { delayed: true })
    expect((await runsOf(experiment))[0]).toMatchObject({ trigger: 'retry', status: 'failed' })
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 4, pending: 0 } })
  })

  it('does not evaluate what is already being evaluated', async () => {
    const judges = [
      await makeJudge(key),
      await makeJudge(key, { definition: { criteria: 'The agent hung up.', output: { type: 'boolean' } } }),
    ]
    const [first, second] = judges.map(({ id }) => id as string)
    const experiment = await own.launch({ outcomeMetricIds: [first, second], primaryMetricId: first })
    answerBy((request) => new Refusal(JSON.stringify(request).includes('hung up') ? 503 : 400))
    await own.converse('A', { transcript: turns })
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 1 } })
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { pending: 1 } })
    clock.advance(1_000)
    answerBy(() => impolite())
    await retry(experiment)
    expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1 } })
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { pending: 1 } })
    expect((await runsOf(experiment))[0]).toMatchObject({ status: 'completed', total: 1, scored: 1 })
    await server.deps.jobs.drain(jobList, server.deps, { delayed: true })
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { observed: 1 } })
    expect(asked).toHaveLength(2)
  })

  it('evaluates the rest if one of the monitors was deleted', async () => {
    const gone = await makeRule(key, 'turns.size() == 3')
    const judge = await makeJudge(key)
    const experiment = await own.launch({ outcomeMetricIds: [gone.id, judge.id], primaryMetricId: judge.id })
    answerBy(() => new Refusal(400))
    await own.converse('A', { transcript: turns })
    expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1 } })
    clock.advance(1_000)
    await own.finish(experiment)
    expect((await call('DELETE', `/v1/monitors/${gone.id}`, { key })).status).toBe(204)
    await server.drain()
    clock.advance(25 * 60 * 60 * 1_000)
    answerBy(() => impolite())
    expect((await retry(experiment)).status).toBe(202)
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { observed: 1, failed: 0 } })
    expect((await runsOf(experiment))[0]).toMatchObject({ status: 'completed', scored: 1 })
  })

  it('skips conversations that only lack results of a deleted monitor', async () => {
    const gone = await makeJudge(key)
    const judge = await makeJudge(key)
    const experiment = await own.launch({ outcomeMetricIds: [gone.id, judge.id], primaryMetricId: judge.id })
    answerBy(() => new Refusal(400))
    await own.converse('A', { transcript: turns })
    await server.drain()
    clock.advance(1_000)
    await own.finish(experiment)
    expect((await call('DELETE', `/v1/monitors/${gone.id}`, { key })).status).toBe(204)
    await server.drain()
    clock.advance(1_000)
    answerBy(() => impolite())
    await retry(experiment)
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { observed: 1, failed: 0 } })
    expect((await runsOf(experiment))[0]).toMatchObject({ status: 'completed', total: 1, scored: 1 })
    await retry(experiment)
    await server.drain()
    expect((await runsOf(experiment))[0]).toMatchObject({ status: 'completed', total: 0 })
  })
})
