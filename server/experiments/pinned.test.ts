import { beforeEach, describe, expect, it } from 'vitest'
import { makeMonitor } from '../../test/make.ts'
import { impolite, serverWithModel, turns } from '../../test/support/evaluations/evaluations.ts'
import { type Experiments, openExperiments } from '../../test/support/experiments/experiments.ts'
import { Refusal } from '../../test/support/monitors/model-server.ts'
import { jobList } from '../worker.ts'

const { server, asked, answerBy, makeRule, makeJudge, resultsOf } = await serverWithModel()

let own: Experiments
let key: string
beforeEach(async () => {
  own = await openExperiments(server)
  key = own.key
  answerBy(() => impolite())
})

const only = (monitorId: string) => ({ outcomeMetricIds: [monitorId], primaryMetricId: monitorId })
const change = async (monitorId: string, body: object) => {
  const answer = await server.call('PATCH', `/v1/monitors/${monitorId}`, { key, body })
  expect(answer.status, answer.text).toBe(200)
}
const armsOf = async (experiment: { id: string }, at = 0) => (await own.read(experiment)).outcomes[at].arms
const long = 'turns.size() == 3'

describe('a pinned version', () => {
  it('is measured even if the monitor changes', async () => {
    const rule = await makeRule(key, long)
    const experiment = await own.launch(only(rule.id))
    await own.converse('A', { transcript: turns })
    await change(rule.id, { definition: { expression: 'false' } })
    const id = await own.converse('A', { transcript: turns })
    await server.drain()
    await change(rule.id, { samplePercent: 0, scope: { channels: ['voicemail'] } })
    await own.converse('B', { transcript: turns })
    await change(rule.id, { enabled: false, name: 'Another name' })
    await own.converse('B', { transcript: turns.slice(1) })
    const shown = await own.read(experiment)
    expect(shown.outcomes[0]).toMatchObject({
      monitorVersion: 1,
      name: rule.name,
      arms: { a: { observed: 2, sum: 2 }, b: { observed: 2, sum: 1 } },
    })
    // The monitor itself still uses its current version.
    expect(await resultsOf(key, id)).toMatchObject([{ monitorVersion: 2, result: 'not_affected' }])
    expect((await server.call('DELETE', `/v1/monitors/${rule.id}`, { key })).status).toBe(409)
    await own.finish(experiment)
    expect((await server.call('DELETE', `/v1/monitors/${rule.id}`, { key })).status).toBe(204)
    await server.drain()
    expect((await own.read(experiment)).outcomes[0].arms).toEqual(shown.outcomes[0].arms)
  })

  it('is paid for once, by any number of requests', async () => {
    const judge = await makeJudge(key)
    const first = await own.launch(only(judge.id))
    const second = await own.launch(only(judge.id))
    for (const arm of ['A', 'B'] as const) await own.converse(arm, { transcript: turns })
    for (const experiment of [first, second]) {
      expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1, sum: 1 }, b: { observed: 1, sum: 1 } })
    }
    expect(asked).toHaveLength(2)
    await change(judge.id, { definition: { criteria: 'The agent was rude.', output: { type: 'boolean' } } })
    const third = await own.launch(only(judge.id))
    await own.converse('A', { transcript: turns })
    expect(await armsOf(first)).toMatchObject({ a: { observed: 2 } })
    expect(await armsOf(third)).toMatchObject({ a: { observed: 1 } })
    // The judge evaluates each version of the conversations once.
    expect(asked).toHaveLength(4)
  })

  it('stays pending until a judge has responded, and never runs twice', async () => {
    const judge = await makeJudge(key)
    const experiment = await own.launch(only(judge.id))
    answerBy((_, number) => (number === 1 ? new Refusal(503) : impolite()))
    await own.converse('A', { transcript: turns })
    expect(await armsOf(experiment)).toMatchObject({ a: { conversations: 1, pending: 1, observed: 0 } })
    await server.deps.jobs.drain(jobList, server.deps, { delayed: true })
    expect(await armsOf(experiment)).toMatchObject({ a: { conversations: 1, pending: 0, observed: 1 } })
  })

  it('has scores if the monitor has scores', async () => {
    const output = { type: 'score', min: 1, max: 5, affectedWhen: { op: 'lte', value: 2 } }
    const judge = await makeJudge(key, { definition: { criteria: 'How polite was the agent?', output } })
    const experiment = await own.launch(only(judge.id))
    answerBy((_, number) => impolite({ result: number === 2 ? 'not_affected' : 'affected', score: number + 1 }))
    for (let count = 0; count < 2; count++) await own.converse('A', { transcript: turns })
    const shown = (await own.read(experiment)).outcomes[0]
    expect(shown).toMatchObject({ kind: 'numeric', range: { low: 1, high: 5 } })
    expect(shown.arms.a.observed + shown.arms.a.failed).toBe(2)
    expect(shown.arms.a.mean).toBeGreaterThanOrEqual(2)
  })

  it('includes metrics that arrive days later', async () => {
    const rule = await makeRule(key, 'metrics.refunded == true')
    const experiment = await own.launch(only(rule.id))
    await change(rule.id, { enabled: false })
    const ids = [await own.converse('A'), await own.converse('B'), await own.converse('B')]
    const before = await armsOf(experiment)
    expect(before).toMatchObject({ a: { observed: 0, conversations: 1 }, b: { observed: 0, conversations: 2 } })
    server.clock.advance(9 * 24 * 60 * 60 * 1_000)
    const put = (id: string | undefined, value: boolean) =>
      server.call('PUT', `/v1/conversations/${id}/metrics/refunded`, { key, body: { value } })
    await put(ids[0], true)
    await put(ids[1], false)
    const conversations = [{ conversationId: ids[2], key: 'refunded', value: true }]
    expect((await server.call('POST', '/v1/customer-metrics', { key, body: { metrics: conversations } })).status).toBe(
      200,
    )
    expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1, sum: 1 }, b: { observed: 2, sum: 1 } })
  })

  it('runs on counted conversations, even after the end', async () => {
    const rule = await makeRule(key, 'metrics.refunded == true')
    const experiment = await own.launch(only(rule.id))
    await change(rule.id, { enabled: false })
    const id = await own.converse('A')
    expect(await armsOf(experiment)).toMatchObject({ a: { conversations: 1, observed: 0 } })
    server.clock.advance(1_000)
    await own.finish(experiment)
    server.clock.advance(1_000)
    await server.call('PUT', `/v1/conversations/${id}/metrics/refunded`, { key, body: { value: true } })
    expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1, sum: 1 } })
  })

  it('runs once on a conversation that joins an arm after it completed', async () => {
    const [rule, judge] = [await makeRule(key, 'turns.size() == 3'), await makeJudge(key)]
    const experiment = await own.launch({ outcomeMetricIds: [rule.id, judge.id], primaryMetricId: rule.id })
    for (const { id } of [rule, judge]) await change(id, { enabled: false })
    const id = await own.converse('A', { agentVersionId: undefined, transcript: turns })
    await server.drain()
    expect(asked).toHaveLength(0)
    await own.patch(id, { agentVersionId: own.arms.armAVersionId })
    expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1, pending: 0 } })
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { observed: 1, pending: 0 } })
    expect(asked).toHaveLength(1)
    await own.patch(id, { agentVersionId: own.arms.armBVersionId })
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { conversations: 0 }, b: { observed: 1 } })
    expect(asked).toHaveLength(1)
  })

  it('keeps its scope, including agent groups', async () => {
    const group = (await server.call('POST', '/v1/agent-groups', { key, body: { name: 'Sales' } })).body
    await server.call('PATCH', `/v1/agents/${own.arms.agentId}`, { key, body: { groupIds: [group.id] } })
    const monitor = await makeMonitor(server, key, { scope: { agentGroupIds: [group.id] } })
    const experiment = await own.launch(only(monitor.id))
    const id = await own.converse('A')
    expect(await armsOf(experiment)).toMatchObject({ a: { conversations: 1 } })
    await server.call('PATCH', `/v1/agents/${own.arms.agentId}`, { key, body: { groupIds: [] } })
    await own.tell(monitor.id, id, 'affected')
    await own.converse('A')
    expect(await armsOf(experiment)).toMatchObject({ a: { conversations: 2, observed: 1 } })
  })

  it('protects the monitor while late results can arrive, and says until when', async () => {
    const monitor = await makeMonitor(server, key)
    const experiment = await own.launch(only(monitor.id))
    const remove = () => server.call('DELETE', `/v1/monitors/${monitor.id}`, { key })
    expect((await remove()).body.message).toContain('Finish the experiment first')
    await own.converse('A')
    await server.drain()
    server.clock.advance(1_000)
    await own.finish(experiment)
    const answer = await remove()
    expect(answer.status).toBe(409)
    expect(answer.body.message).not.toContain('Finish the experiment first')
    expect(answer.body.message).toContain('late results')
  })
})

describe('evaluation runs', () => {
  const path = ({ id }: { id: string }) => `/v1/experiments/${id}/evaluations`
  const list = async (experiment: { id: string }) => (await server.call('GET', path(experiment), { key })).body.data
  const retry = (experiment: { id: string }) => server.call('POST', path(experiment), { key })

  it('retry failures, one run at a time', async () => {
    const judge = await makeJudge(key)
    const experiment = await own.launch(only(judge.id))
    answerBy((_, number) => (number <= 2 ? new Refusal(400) : impolite()))
    for (const arm of ['A', 'B', 'B'] as const) await own.converse(arm, { transcript: turns })
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 1 }, b: { failed: 1, observed: 1 } })
    expect(await list(experiment)).toMatchObject([
      { kind: 'experiment', trigger: 'launch', status: 'running', total: 3, scored: 1, failed: 2, finishedAt: null },
    ])
    server.clock.advance(1_000)
    const answer = await retry(experiment)
    expect(answer).toMatchObject({ status: 202, body: { trigger: 'retry', status: 'queued', total: 2, scored: 0 } })
    expect((await retry(experiment)).status).toBe(409)
    answerBy(() => impolite())
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 0, observed: 1 }, b: { failed: 0, observed: 2 } })
    expect(asked).toHaveLength(2)
    expect((await list(experiment))[0]).toMatchObject({ status: 'completed', total: 2, scored: 2, failed: 0 })
    const again = await retry(experiment)
    expect(again).toMatchObject({ status: 202, body: { status: 'completed', total: 0 } })
    expect(await list(experiment)).toHaveLength(3)
  })

  it('store repeated failures, even after the end', async () => {
    const judge = await makeJudge(key)
    const experiment = await own.launch(only(judge.id))
    answerBy(() => new Refusal(400))
    for (let count = 0; count < 3; count++) await own.converse('A', { transcript: turns })
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 3 } })
    server.clock.advance(1_000)
    await own.finish(experiment)
    server.clock.advance(1_000)
    expect((await retry(experiment)).status).toBe(202)
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 3, pending: 0, observed: 0 } })
    answerBy(() => impolite())
    server.clock.advance(1_000)
    await retry(experiment)
    expect(await armsOf(experiment)).toMatchObject({ a: { failed: 0, observed: 3 } })
    expect((await list(experiment)).map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ])
  })

  it('evaluate conversations that nothing evaluated for a day', async () => {
    const judge = await makeJudge(key)
    const experiment = await own.launch(only(judge.id))
    await own.converse('A', { transcript: turns })
    // This step loses the original evaluation.
    await server.deps.jobs.drain(
      jobList.filter(({ name }) => name === 'conversation.evaluate'),
      { ...server.deps, jobs: { ...server.deps.jobs, enqueueMany: async () => [] } },
    )
    expect(await armsOf(experiment)).toMatchObject({ a: { pending: 1 } })
    server.clock.advance(25 * 60 * 60 * 1_000)
    const sweep = jobList.find(({ name }) => name === 'experiment.sweep')
    if (!sweep) throw new Error('There is no sweep')
    await server.deps.jobs.enqueue(server.deps.db, sweep, {})
    expect(await armsOf(experiment)).toMatchObject({ a: { pending: 0, missing: 1 } })
    await retry(experiment)
    expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1 } })
  })

  it('keep results of a monitor that was deleted since', async () => {
    const gone = await makeRule(key, 'turns.size() == 3')
    const judge = await makeJudge(key)
    const experiment = await own.launch({ outcomeMetricIds: [gone.id, judge.id], primaryMetricId: judge.id })
    answerBy(() => new Refusal(400))
    await own.converse('A', { transcript: turns })
    expect(await armsOf(experiment)).toMatchObject({ a: { observed: 1 } })
    server.clock.advance(1_000)
    await own.finish(experiment)
    expect((await server.call('DELETE', `/v1/monitors/${gone.id}`, { key })).status).toBe(204)
    await server.drain()
    server.clock.advance(25 * 60 * 60 * 1_000)
    answerBy(() => impolite())
    expect((await retry(experiment)).status).toBe(202)
    expect(await armsOf(experiment, 1)).toMatchObject({ a: { observed: 1, failed: 0 } })
    expect(await armsOf(experiment, 0)).toMatchObject({ a: { observed: 1, sum: 1 } })
  })
})
