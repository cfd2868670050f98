import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgentVersion, makeCompany, makeMonitor } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { type Experiments, openExperiments } from '../../test/support/experiments/experiments.ts'
import { dayMs } from '../platform/durations.ts'

const server = await testServer()

let own: Experiments
beforeEach(async () => {
  own = await openExperiments(server)
})

const countsOf = async (experiment: { id: string }) => {
  const { arms } = (await own.read(experiment)).outcomes[0]
  return [arms.a.conversations, arms.b.conversations]
}

describe('the population', () => {
  it('contains conversations of either version that start after the launch', async () => {
    const before = await own.converse('A')
    server.clock.advance(1_000)
    const experiment = await own.launch()
    await own.patch(before, { customerId: 'known-now' })
    await own.converse('A')
    const third = await makeAgentVersion(server, own.key, own.arms.agentId, 'You are someone else.')
    await own.converse('B', { agentVersionId: third.id })
    await own.converse('B', { agentVersionId: undefined })
    const shown = await own.read(experiment)
    expect(shown.health).toMatchObject({
      conversations: { a: 1, b: 0 },
      otherVersions: expect.arrayContaining([
        { agentVersionId: third.id, conversations: 1 },
        { agentVersionId: null, conversations: 1 },
      ]),
    })
    expect(shown.outcomes[0].arms).toMatchObject({ a: { conversations: 1, missing: 1 }, b: { conversations: 0 } })
  })

  it('excludes a conversation until it completes', async () => {
    const experiment = await own.launch()
    const id = await own.converse('A', { status: 'in_progress' })
    expect(await countsOf(experiment)).toEqual([0, 0])
    await own.patch(id, { status: 'completed' })
    expect(await countsOf(experiment)).toEqual([1, 0])
  })

  it("is within the cohort, by the conversation's current data", async () => {
    const { id: companyId } = await makeCompany(server, own.key)
    const experiment = await own.launch({
      cohortFilters: [
        { field: 'metadata', key: 'plan', op: 'neq', value: 'trial' },
        { field: 'channel', op: 'neq', value: 'voicemail' },
        { field: 'direction', op: 'eq', value: 'inbound' },
        { field: 'companyId', op: 'neq', value: companyId },
      ],
    })
    const other = await makeCompany(server, own.key, 'Other')
    const fits = { metadata: { plan: 'gold' }, direction: 'inbound', companyId: other.id }
    const kept = await own.converse('A', fits)
    await own.converse('B', { ...fits, channel: 'chat' })
    for (const fields of [
      { metadata: { plan: 'trial' } },
      { metadata: {} },
      { channel: 'voicemail' },
      { direction: 'outbound' },
      { direction: undefined },
      { companyId },
      { companyId: undefined },
    ]) {
      await own.converse('A', { ...fits, ...fields })
    }
    expect(await countsOf(experiment)).toEqual([1, 1])
    await own.patch(kept, { metadata: { plan: 'trial' } })
    expect(await countsOf(experiment)).toEqual([0, 1])
    await own.patch(kept, { metadata: { plan: 'silver' } })
    expect(await countsOf(experiment)).toEqual([1, 1])
  })

  it("excludes conversations outside an outcome's scope at launch", async () => {
    const monitor = await makeMonitor(server, own.key, { scope: { channels: ['chat'] } })
    const experiment = await own.launch({ outcomeMetricIds: [monitor.id], primaryMetricId: monitor.id })
    await server.call('PATCH', `/v1/monitors/${monitor.id}`, { key: own.key, body: { scope: {} } })
    await own.converse('A')
    await own.converse('B', { channel: 'chat' })
    expect(await countsOf(experiment)).toEqual([0, 1])
    expect((await own.read(experiment)).health.conversations).toMatchObject({ a: 1, b: 1 })
  })

  it('has callers as units, or values of the metadata', async () => {
    const byCaller = await own.launch()
    const byHousehold = await own.launch({ assignmentUnit: { kind: 'metadata', key: 'household' } })
    await own.converse('A', { customerId: 'ada', metadata: { household: 7 } })
    await own.converse('A', { customerId: 'ada', metadata: { household: 7 } })
    await own.converse('B', { customerId: 'bea', metadata: { household: '7' } })
    await own.converse('B', { metadata: { household: { no: 'name' } } })
    const [callers, households] = [await own.read(byCaller), await own.read(byHousehold)]
    expect(callers.health).toMatchObject({
      sampleRatio: { units: { a: 1, b: 2 } },
      routing: { units: 3, returning: 1, inBothArms: 0 },
      withoutUnit: { a: 0, b: 1 },
    })
    expect(households.health).toMatchObject({
      sampleRatio: { units: { a: 1, b: 1 } },
      routing: { units: 2, returning: 1, inBothArms: 1 },
      withoutUnit: { a: 0, b: 1 },
    })
  })

  it('counts a unit in the arm of its first conversation, whatever arrives first', async () => {
    const experiment = await own.launch()
    const at = (seconds: number) => new Date(server.clock.now().getTime() + seconds * 1_000).toISOString()
    const later = await own.converse('B', { customerId: 'ada', startedAt: at(20) })
    expect((await own.read(experiment)).health.sampleRatio.units).toEqual({ a: 0, b: 1 })
    const earlier = await own.converse('A', { customerId: 'ada', startedAt: at(10) })
    expect((await own.read(experiment)).health.sampleRatio.units).toEqual({ a: 1, b: 0 })
    await own.erase(earlier)
    expect((await own.read(experiment)).health.sampleRatio.units).toEqual({ a: 0, b: 1 })
    await own.erase(later)
    const empty = await own.read(experiment)
    expect(empty.health).toMatchObject({
      sampleRatio: { units: { a: 0, b: 0 } },
      conversations: { a: 0, b: 0 },
      byDay: [],
    })
  })
})

describe('finishing', () => {
  it('happens once, by an admin, and freezes the counts', async () => {
    const experiment = await own.launch()
    const [monitorId] = experiment.outcomeMetricIds
    const counted = await own.converse('A', { customerId: 'ada' })
    server.clock.advance(1_000)
    const answer = await own.finish(experiment)
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'finished', finishedAt: server.clock.now().toISOString() },
    })
    expect((await own.finish(experiment)).status).toBe(409)
    server.clock.advance(1_000)
    await own.converse('A')
    await own.patch(counted, { customerId: 'bea', agentVersionId: own.arms.armBVersionId })
    expect(await countsOf(experiment)).toEqual([1, 0])
    // A late result of a counted conversation still counts.
    await own.tell(monitorId, counted, 'affected')
    const shown = await own.read(experiment)
    expect(shown.outcomes[0].arms.a).toMatchObject({ observed: 1, sum: 1 })
    expect(shown.outcomes[0].verdict.text).toContain('The experiment is finished.')
    // After the run ends, only erasure changes the counts.
    server.clock.advance(1_000)
    await own.tell(monitorId, counted, 'not_affected')
    expect((await own.read(experiment)).outcomes[0].arms.a).toMatchObject({ observed: 1, sum: 1 })
    await own.erase(counted)
    expect(await countsOf(experiment)).toEqual([0, 0])
  })

  it('ends a week later without results that never arrived', async () => {
    const experiment = await own.launch()
    const id = await own.converse('A')
    await own.read(experiment)
    server.clock.advance(1_000)
    await own.finish(experiment)
    const runs = async () =>
      (await server.call('GET', `/v1/experiments/${experiment.id}/evaluations`, { key: own.key })).body.data
    expect(await runs()).toMatchObject([{ trigger: 'launch', status: 'running', total: 1, unscored: 1 }])
    server.clock.advance(8 * dayMs)
    const { sweepExperiments } = await import('./runs/jobs.ts')
    await server.deps.jobs.enqueue(server.deps.db, sweepExperiments, {})
    await server.drain()
    expect(await runs()).toMatchObject([{ status: 'completed', finishedAt: server.clock.now().toISOString() }])
    server.clock.advance(1_000)
    await own.tell(experiment.outcomeMetricIds[0], id, 'affected')
    expect((await own.read(experiment)).outcomes[0].arms.a).toMatchObject({ observed: 0, missing: 1 })
  })
})
