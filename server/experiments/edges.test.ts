import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgentVersion, makeConversations, makeMonitor } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { type Experiments, openExperiments } from '../../test/support/experiments/experiments.ts'

const server = await testServer()
const { call, clock } = server

let own: Experiments
let key: string
beforeEach(async () => {
  own = await openExperiments(server)
  key = own.key
})

const only = (monitorId: string) => ({ outcomeMetricIds: [monitorId], primaryMetricId: monitorId })

describe('people', () => {
  it('are notified of experiments with names that are long in bytes', async () => {
    const experiment = await own.launch({
      name: '😀'.repeat(111),
      expectedArmAPercent: 50,
      notifications: { emails: ['lead@example.com'] },
    })
    expect(
      (await own.tryLaunch({ name: '😀'.repeat(255), notifications: { emails: ['lead@example.com'] } })).status,
    ).toBe(201)
    const { agentId, armAVersionId: agentVersionId } = own.arms
    const startedAt = clock.now().toISOString()
    const each = Array.from({ length: 80 }, () => ({ agent: undefined, agentId, agentVersionId, startedAt }))
    await makeConversations(server, key, each)
    const { health } = await own.read(experiment)
    expect(server.logged.filter((line) => line.includes('counting an experiment failed'))).toEqual([])
    expect(health.concerns).toEqual(['mismatch'])
  })

  it('need valid addresses, or the launch lists the invalid ones', async () => {
    for (const email of [
      '"a b"@example.com',
      'a,b@example.com',
      'a(b)@example.com',
      'a@b@c.com',
      'lead@example.com\nBcc: x@y.com',
    ]) {
      const { status, body } = await own.tryLaunch({ notifications: { emails: ['lead@example.com', email] } })
      expect([email, status, body.details?.issues[0].path]).toEqual([email, 400, 'notifications.emails[1]'])
    }
    expect((await own.tryLaunch({ notifications: { emails: ["o'neil+lead@example.com"] } })).status).toBe(201)
  })
})

describe('a launch', () => {
  it('counts a conversation that was stored before it and starts after it', async () => {
    const startedAt = new Date(clock.now().getTime() + 120_000).toISOString()
    await own.converse('A', { startedAt })
    const experiment = await own.launch()
    expect((await own.read(experiment)).outcomes[0].arms).toMatchObject({ a: { conversations: 1 } })
  })

  it('reports an unknown agent together with all other faults', async () => {
    const [disabled] = [await makeMonitor(server, key, { enabled: false })]
    const answer = await own.tryLaunch({
      agentId: '0190a0a0-0000-7000-8000-000000000000',
      stableRoutingConfirmed: false,
      ...only(disabled.id),
      cohortFilters: [{ field: 'companyId', op: 'eq', value: 'Acme' }],
      assignmentUnit: { kind: 'metadata' },
    })
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      'agentId',
      'assignmentUnit.key',
      'cohortFilters[0].value',
      'outcomeMetricIds[0]',
      'stableRoutingConfirmed',
    ])
  })
})

describe('IDs', () => {
  it('can be in uppercase', async () => {
    const monitor = await makeMonitor(server, key)
    const upper = (id: string) => id.toUpperCase()
    const { agentId, armAVersionId, armBVersionId } = own.arms
    const arms = {
      agentId: upper(agentId),
      armAVersionId: upper(armAVersionId),
      armBVersionId: upper(armBVersionId),
    }
    const { monitorGroupId } = (await own.tryLaunch({ ...only(monitor.id), newMonitorGroupName: 'Refunds' })).body
    const launch = { ...arms, ...only(upper(monitor.id)), monitorGroupId: upper(monitorGroupId) }
    const { status, body } = await own.tryLaunch(launch)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...own.arms, ...only(monitor.id), monitorGroupId })
    await own.tell(monitor.id, await own.converse('A'), 'affected')
    expect(await own.read({ id: upper(body.id) })).toMatchObject({
      id: body.id,
      outcomes: [{ arms: { a: { sum: 1 } } }],
    })
    const list = await call('GET', `/v1/experiments?agentId=${arms.agentId}&limit=1`, { key })
    expect(list.body.data).toMatchObject([{ id: body.id }])
    const cursor = encodeURIComponent(list.body.nextCursor)
    const next = await call('GET', `/v1/experiments?agentId=${arms.agentId}&limit=1&cursor=${cursor}`, { key })
    expect(next.body).toMatchObject({ data: [{ monitorGroupId }], nextCursor: null })
    clock.advance(1_000)
    expect((await call('POST', `/v1/experiments/${upper(body.id)}/evaluations`, { key })).status).toBe(202)
    expect(await own.finish({ id: upper(body.id) })).toMatchObject({ status: 200, body: { status: 'finished' } })
  })
})

describe('numbers', () => {
  it('fit into JSON, and the largest score stops nothing', async () => {
    const rule = await makeMonitor(server, key, {
      kind: 'rule',
      definition: { expression: 'metrics.score > 1.0', score: 'metrics.score' },
    })
    const experiment = await own.launch(only(rule.id))
    for (const [at, value] of [1e308, -1e308, 5e-324, 1e200, 1e150, 0.1, 1e100, 1e15].entries()) {
      const id = await own.converse(at % 2 === 0 ? 'A' : 'B')
      await call('PUT', `/v1/conversations/${id}/metrics/score`, { key, body: { value } })
      const shown = await own.read(experiment)
      const { a, b } = shown.outcomes[0].arms
      expect(a.observed + a.failed + b.observed + b.failed).toBe(at + 1)
    }
  })
})

describe('a process with a slow clock', () => {
  it('stores conversations that are counted like any other', async () => {
    const monitor = await makeMonitor(server, key)
    const experiment = await own.launch(only(monitor.id))
    const startedAt = clock.now().toISOString()
    clock.advance(-60_000)
    await own.tell(monitor.id, await own.converse('A', { startedAt }), 'affected')
    await own.converse('B', { startedAt })
    clock.advance(60_000)
    expect((await own.read(experiment)).outcomes[0].arms).toMatchObject({
      a: { conversations: 1, observed: 1, sum: 1 },
      b: { conversations: 1, observed: 0, missing: 1 },
    })
  })
})

describe('a finished experiment', () => {
  it('is not notified of later conversations of its agent', async () => {
    const experiment = await own.launch()
    await own.read(experiment)
    clock.advance(1_000)
    await own.finish(experiment)
    clock.advance(60 * 60 * 1_000)
    await own.converse('A')
    const { db } = server.deps
    const noted = await db
      .selectFrom('experiment_changes')
      .select('id')
      .where('experiment_id', '=', experiment.id)
      .execute()
    expect(noted).toEqual([])
  })

  it('does not list later versions of the agent', async () => {
    const experiment = await own.launch()
    clock.advance(1_000)
    await own.finish(experiment)
    clock.advance(1_000)
    const third = await makeAgentVersion(server, key, own.arms.agentId, 'You are someone else.')
    await own.converse('A', { agentVersionId: third.id })
    expect((await own.read(experiment)).health.otherVersions).toEqual([])
  })
})
