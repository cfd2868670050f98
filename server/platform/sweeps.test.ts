import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { makeConversation, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { eraseByRetention } from '../conversations/erasure/jobs.ts'
import { openDatabaseClock, readDatabaseTime } from './db/clock.ts'
import { dayMs } from './durations.ts'
import { openSweeps } from './sweeps.ts'

const server = await testServer()
const { db, log, jobs } = server.deps
const fortyDays = 40 * dayMs

/** Changes the time of the last reading, which has the same effect as changing the clock. */
const seenAgo = (interval: string) =>
  sql`UPDATE instance SET seen_at = clock_timestamp() - ${interval}::interval, trusted_from = '2020-01-01'`.execute(db)

beforeEach(() => sql`UPDATE instance SET seen_at = NULL, trusted_from = NULL`.execute(db))

it('returns the time of the database', async () => {
  const now = await openSweeps({ db, log }).time()
  expect(Math.abs((now?.getTime() ?? 0) - (await readDatabaseTime(db)).getTime())).toBeLessThan(5_000)
})

it.each([fortyDays, -fortyDays])(
  'does not trust a machine with a clock that is off by %d ms, until it is set',
  async (off) => {
    let drift = off
    const sweeps = openSweeps({ db, log, machineTime: () => Date.now() + drift })
    expect(await sweeps.time()).toBeUndefined()
    expect(sweeps.warning()).toMatch(/differ by 40 days/)
    expect(server.logged.at(-1)).toContain('deletion by age is paused')
    drift = 0
    expect(await sweeps.time()).toBeInstanceOf(Date)
    expect(sweeps.warning()).toBeUndefined()
  },
)

it.each(['40 days', '-40 days', '37 hours', '-2 minutes'])(
  'waits a day after the clock of the database moved by %s',
  async (moved) => {
    await seenAgo(moved)
    const sweeps = openSweeps({ db, log })
    expect(await sweeps.time()).toBeUndefined()
    expect(sweeps.warning()).toMatch(/resumes at 20/)
    expect(await sweeps.time()).toBeUndefined()
    await sql`UPDATE instance SET trusted_from = trusted_from - interval '24 hours'`.execute(db)
    expect(await sweeps.time()).toBeInstanceOf(Date)
  },
)

it.each(['1 second', '35 hours'])('continues when the clock was last read %s ago', async (ago) => {
  await seenAgo(ago)
  expect(await openSweeps({ db, log }).time()).toBeInstanceOf(Date)
})

it('erases nothing by retention while the clocks disagree, and what is due afterwards', async () => {
  const { key } = await makeOrganization(server)
  await server.call('PATCH', '/v1/organization', { key, body: { retentionDays: 30 } })
  const young = await makeConversation(server, key, { startedAt: new Date().toISOString() })
  const old = await makeConversation(server, key, { startedAt: new Date(Date.now() - 31 * dayMs).toISOString() })
  const statuses = async () =>
    Promise.all(
      [young, old].map(async ({ id }) => (await server.call('GET', `/v1/conversations/${id}`, { key })).status),
    )
  const erase = async (machineTime: () => number) => {
    await jobs.enqueue(db, eraseByRetention, {})
    await jobs.drain([eraseByRetention], { ...server.deps, sweeps: openSweeps({ db, log, machineTime }) })
  }
  server.clock.advance(fortyDays)
  await erase(() => Date.now() + fortyDays)
  expect(await statuses()).toEqual([200, 200])
  await erase(Date.now)
  expect(await statuses()).toEqual([200, 404])
})

it('gives every process the clock of the database', async () => {
  const clock = await openDatabaseClock(db)
  try {
    expect(Math.abs(clock.now().getTime() - (await readDatabaseTime(db)).getTime())).toBeLessThan(2_000)
  } finally {
    clock.close()
  }
})
