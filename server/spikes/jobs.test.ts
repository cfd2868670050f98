import { beforeEach, expect, it } from 'vitest'
import { makeMonitor } from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { days, hourMs, makeTimeline } from '../../test/support/spikes/timeline.ts'
import { insertMonitorVersion, updateMonitor } from '../monitors/queries.ts'
import { newId } from '../platform/ids.ts'

const server = await testServer()
const { call, clock } = server
const { db } = server.deps

let line: Awaited<ReturnType<typeof makeTimeline>>
beforeEach(async () => {
  line = await makeTimeline(server)
})

it('a constant rate creates nothing', async () => {
  const next = await line.giveHistory()
  await line.pass(days(10), 2)
  expect(await line.findings()).toEqual([])
  expect(await line.stateOf(line.monitorId)).toMatchObject({ nextHour: new Date((next + days(10)) * hourMs) })
})

it('an increase that ended long before it was checked creates nothing', async () => {
  const next = line.nextHour()
  await line.give(next - days(20), next - days(10), 2)
  await line.give(next - days(10), next - days(9), 6)
  await line.give(next - days(9), next, 2)
  await line.run()
  expect(await line.findings()).toEqual([])
})

it('a new version starts over', async () => {
  const { org, monitorId } = line
  await line.giveHistory()
  await insertMonitorVersion(db, org, monitorId, 2, {})
  await updateMonitor(db, org, monitorId, { currentVersion: 2 })
  await line.live(2, 4)
  const started = await line.stateOf(monitorId)
  expect(started).toMatchObject({ version: 2, detector: { baseline: { affected: 8, calls: 12 } } })
  await line.pass(days(9), 4)
  expect(await line.findings()).toEqual([])
})

it('hours are counted in order and each once, even for a monitor that was disabled in the meantime', async () => {
  const { key, monitorId } = line
  const other = (await makeMonitor(server, key)).id
  const both = [monitorId, other]
  await line.giveHistory(both)
  const before = await line.stateOf(other)
  expect((await call('PATCH', `/v1/monitors/${other}`, { key, body: { enabled: false } })).status).toBe(200)
  await line.live(20, 4, both)
  expect(await line.stateOf(other)).toEqual(before)
  expect(await line.findings()).toHaveLength(1)

  await call('PATCH', `/v1/monitors/${other}`, { key, body: { enabled: true } })
  await line.run()
  const [state, caughtUp] = [await line.stateOf(monitorId), await line.stateOf(other)]
  expect(caughtUp?.detector).toEqual(state?.detector)
  expect(caughtUp?.nextHour).toEqual(state?.nextHour)
  expect(await line.findings()).toHaveLength(2)
})

it('hours are closed some time after their end; later results are not counted, and checking without news costs nothing', async () => {
  const { monitorId } = line
  const next = line.nextHour()
  await line.give(next - days(3), next + 1, 2)
  await line.run()
  const counted = async () => (await line.stateOf(monitorId))?.detector
  expect(await counted()).toMatchObject({ lastHour: next - 1, baseline: { affected: days(3) * 2, calls: days(3) * 6 } })
  // The only run is the one that lists organizations with new results.
  expect(await line.run()).toEqual(['completed'])
  clock.advance(hourMs)
  expect(await line.run()).toEqual(['completed', 'completed'])
  expect(await counted()).toMatchObject({ lastHour: next, baseline: { calls: (days(3) + 1) * 6 } })
  const state = await line.stateOf(monitorId)
  await line.give(next - days(4), next - days(3), 6)
  expect(await line.run()).toEqual(['completed'])
  expect(await line.stateOf(monitorId)).toEqual(state)
})

it('results of a run for earlier calls are waited for', async () => {
  const { org, key, monitorId } = line
  const next = line.nextHour()
  await line.give(next - days(3), next, 2)
  const { member } = (await call('GET', '/v1/me', { key })).body
  const id = newId()
  await db
    .insertInto('evaluation_runs')
    .values({
      organization_id: org,
      id,
      kind: 'backfill',
      monitor_id: monitorId,
      monitor_version: 1,
      population: '{}',
      status: 'running',
      total: 1,
      created_by_user_id: member.userId,
      created_at: clock.now(),
    })
    .execute()
  await line.run()
  expect(await line.stateOf(monitorId)).toBeUndefined()
  await db
    .updateTable('evaluation_runs')
    .set({ status: 'completed', finished_at: clock.now() })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
  await line.run()
  expect(await line.stateOf(monitorId)).toMatchObject({ detector: { baseline: { calls: days(3) * 6 } } })
})

it('an organization without the entitlement is skipped', async () => {
  const next = line.nextHour()
  await line.give(next - days(1), next, 2)
  const body = { entitlements: { monitors: false } }
  expect((await call('PATCH', `/v1/organizations/${line.org}`, { key: serviceKey, body })).status).toBe(200)
  expect(await line.run()).toEqual(['completed'])
  expect(await line.stateOf(line.monitorId)).toBeUndefined()
})
