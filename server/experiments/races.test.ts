// Tests concurrency. A lock blocks one operation until the other operation waits for it.

import pg from 'pg'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { makeMonitor } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'
import { type Experiments, openExperiments } from '../../test/support/experiments/experiments.ts'
import { countAll } from './observations/counter-loop.ts'

const server = await testServer()
const { call, clock } = server

let own: Experiments
let key: string
beforeEach(async () => {
  own = await openExperiments(server)
  key = own.key
})

const only = (monitorId: string) => ({ outcomeMetricIds: [monitorId], primaryMetricId: monitorId })

/** Opens another client with a transaction. It can count the clients that wait for a lock. */
const openBlocker = async () => {
  const blocker = new pg.Client(server.deps.database.connection)
  await blocker.connect()
  onTestFinished(() => blocker.end())
  await blocker.query('BEGIN')
  return { blocker, countWaiting: () => countWaiting(server.deps.db) }
}

describe('a monitor group', () => {
  it('can be deleted during a launch with it', async () => {
    const monitor = await makeMonitor(server, key)
    const { monitorGroupId } = (await own.tryLaunch({ ...only(monitor.id), newMonitorGroupName: 'Refunds' })).body
    const { blocker, countWaiting } = await openBlocker()
    await blocker.query('SELECT FROM monitors WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE', [
      own.org,
      monitor.id,
    ])
    const launching = own.tryLaunch({ ...only(monitor.id), monitorGroupId })
    await expect.poll(countWaiting).toBe(1)
    const deleting = call('DELETE', `/v1/experiments/monitor-groups/${monitorGroupId}`, { key })
    await expect.poll(countWaiting).toBe(2)
    await blocker.query('COMMIT')
    expect((await launching).status).toBe(201)
    expect((await deleting).status).toBe(204)
    expect((await call('GET', `/v1/experiments/${(await launching).body.id}`, { key })).body.monitorGroupId).toBeNull()
  })
})

describe('a launch', () => {
  it('counts a conversation that is stored while it waits', async () => {
    const { blocker, countWaiting } = await openBlocker()
    await blocker.query(
      `INSERT INTO monitor_groups (organization_id, id, name, monitor_ids) VALUES ($1, gen_random_uuid(), 'Refunds', '{}')`,
      [own.org],
    )
    const launching = own.tryLaunch({ newMonitorGroupName: 'Refunds' })
    await expect.poll(countWaiting).toBe(1)
    let isStored = false
    const storing = own.converse('A').then(() => {
      isStored = true
    })
    await expect.poll(async () => isStored || (await countWaiting()) === 2).toBe(true)
    await blocker.query('ROLLBACK')
    const answer = await launching
    expect(answer.status, answer.text).toBe(201)
    await storing
    expect((await own.read(answer.body)).outcomes[0].arms).toMatchObject({ a: { conversations: 1 } })
  })
})

describe('finishing', () => {
  it('first counts earlier changes, even if another process is counting', async () => {
    const experiment = await own.launch()
    await own.converse('A', { customerId: 'ada' })
    const id = await own.converse('A', { customerId: 'bea' })
    expect((await own.read(experiment)).health.routing).toMatchObject({ units: 2 })
    await own.patch(id, { customerId: 'ada' })
    clock.advance(1_000)
    const { blocker, countWaiting } = await openBlocker()
    await blocker.query('SELECT FROM experiments WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE', [
      own.org,
      experiment.id,
    ])
    const finishing = own.finish(experiment)
    await expect.poll(countWaiting).toBe(1)
    await blocker.query('COMMIT')
    expect((await finishing).body).toMatchObject({
      status: 'finished',
      health: { routing: { units: 1, returning: 1 } },
    })
  })
})

describe('counting', () => {
  it('takes turns, so that many changes of one experiment do not block others', async () => {
    const [first, second] = [await own.launch(), await own.launch()]
    const { blocker } = await openBlocker()
    await blocker.query(
      `INSERT INTO experiment_changes (organization_id, experiment_id, id, conversation_id, at)
       SELECT $1, $2, gen_random_uuid(), gen_random_uuid(), now() FROM generate_series(1, 5000)`,
      [own.org, first.id],
    )
    await blocker.query('COMMIT')
    await own.converse('A')
    const ending = new AbortController()
    let batches = 0
    const now = () => {
      batches += 1
      if (batches === 2) ending.abort()
      return clock.now()
    }
    await countAll({ ...server.deps, clock: { now } }, ending.signal)
    const { body } = await call('GET', `/v1/experiments/${second.id}`, { key })
    expect(body.health.conversations).toMatchObject({ a: 1 })
  })
})
