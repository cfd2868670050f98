import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../test/malformed.ts'
import { testServer } from '../../../test/server.ts'
import { expectExact, randomQuery } from '../../../test/support/analytics/brute-force.ts'
import { historyDays, openHistory } from '../../../test/support/analytics/history.ts'
import { minuteMs } from '../../platform/durations.ts'
import { buildNext, checkDays, thin } from './build.ts'
import { buildAnalyticsDays, checkAnalyticsDays } from './jobs.ts'
import { findCheckedState, listChangedHours, listStoredDays } from './queries.ts'

const server = await testServer()
const { deps } = server
const { db } = deps

const seed = Number(process.env.ANALYTICS_SEED ?? randomInt(2 ** 31))

const buildAll = async (org: Parameters<typeof buildNext>[1]) => {
  while (await buildNext(deps, org));
}

it(`answers equal a count of all rows after 10,000 random changes (seed ${seed})`, { timeout: 400_000 }, async () => {
  const random = seededRandom(seed)
  const history = await openHistory(server, random)
  const { org } = history
  let changes = 0
  let compareAt = 1_000
  while (changes < 10_000) {
    changes += await history.step()
    // Days are built at any moment, or not at all for some time.
    if (random.chance(0.1)) {
      server.clock.advance(random.pick([0, minuteMs, 40 * minuteMs]))
      await buildNext(deps, org)
    }
    if (random.chance(0.05)) await thin(deps, org)
    if (changes < compareAt) continue
    compareAt += 1_000
    await expectExact(
      server,
      history,
      Array.from({ length: 12 }, () => randomQuery(random, history)),
    )
  }
  server.clock.advance(2 * minuteMs)
  await buildAll(org)
  expect(await listChangedHours(db, org, 'results')).toEqual([])
  await expectExact(
    server,
    history,
    Array.from({ length: 40 }, () => randomQuery(random, history)),
  )
  expect((await listStoredDays(db, org, undefined, undefined)).length).toBe(historyDays - 1)
  while (await checkDays(deps, org));
  const state = await db
    .selectFrom('analytics_progress')
    .select(['differing_days', 'checked_days'])
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  expect(state.checked_days).toBeGreaterThanOrEqual(historyDays)
  expect(state.differing_days).toBe(0)
})

it('the check finds days that differ from their conversations, and rebuilds them', async () => {
  const random = seededRandom(seed)
  const history = await openHistory(server, random)
  const { org } = history
  for (let changes = 0; changes < 2_000; ) changes += await history.step()
  server.clock.advance(2 * minuteMs)
  await buildAll(org)
  const [first, ...others] = await listStoredDays(db, org, undefined, undefined)
  // The count of the first hour is four bytes long and starts at byte 6.
  await sql`
    UPDATE analytics_days SET hours = set_byte(hours, 9, get_byte(hours, 9) + 7)
    WHERE organization_id = ${org} AND subject = 'volume' AND grain = 0 AND day = ${others.at(-1)}::timestamptz`.execute(
    db,
  )
  const { groups } = (
    await server.call('POST', '/v1/analytics/query', { key: history.key, body: { measure: { kind: 'volume' } } })
  ).body
  expect(groups[0].n).toBe(
    (await db.selectFrom('conversations').select('id').where('organization_id', '=', org).execute()).length + 7,
  )
  await sql`DELETE FROM analytics_days WHERE organization_id = ${org} AND day = ${first}::timestamptz`.execute(db)
  while (await checkDays(deps, org));
  const states = () =>
    db
      .selectFrom('analytics_progress')
      .select(['differing_days', 'checked_until', 'checked_days'])
      .where('organization_id', '=', org)
      .executeTakeFirstOrThrow()
  expect(await states()).toMatchObject({ differing_days: 2, checked_until: null })
  expect((await states()).checked_days).toBeGreaterThanOrEqual(historyDays)
  expect(server.logged.some((line) => line.includes('stored sums differed'))).toBe(true)
  await expectExact(
    server,
    history,
    Array.from({ length: 20 }, () => randomQuery(random, history)),
  )
  const { status } = await server.call('DELETE', `/v1/monitors/${history.monitors[0]}`, { key: history.key })
  expect(status).toBe(204)
  while (await checkDays(deps, org));
  expect(await states(), 'sums of deleted monitors do not count').toMatchObject({ differing_days: 2 })
})

it('days that changed a moment ago wait, and a build that is overtaken changes nothing', async () => {
  const random = seededRandom(seed)
  const history = await openHistory(server, random)
  const { org } = history
  await history.step()
  expect(await buildNext(deps, org)).toBe(true)
  await buildAll(org)
  await history.step()
  const changed = await listChangedHours(db, org, 'results')
  expect(changed.length).toBeGreaterThan(0)
  await buildAll(org)
  expect((await listChangedHours(db, org, 'results')).length).toBe(changed.length)
  server.clock.advance(2 * minuteMs)
  await Promise.all(Array.from({ length: 4 }, () => buildAll(org)))
  await buildAll(org)
  expect(await listChangedHours(db, org, 'results')).toEqual([])
  await expectExact(
    server,
    history,
    Array.from({ length: 20 }, () => randomQuery(random, history)),
  )
})

it('the jobs build and check all days by themselves', async () => {
  const history = await openHistory(server, seededRandom(seed))
  const { org } = history
  for (let changes = 0; changes < 2_000; ) changes += await history.step()
  server.clock.advance(2 * minuteMs)
  const run = async (job: typeof buildAnalyticsDays) => {
    await deps.jobs.enqueue(db, job, {})
    await deps.jobs.drain([job], deps)
  }
  await run(buildAnalyticsDays)
  expect(await listStoredDays(db, org, undefined, undefined)).not.toEqual([])
  expect(await listChangedHours(db, org, 'results')).toEqual([])
  expect(await findCheckedState(db, org)).toMatchObject({ builtSince: null, checkedDays: 0 })
  await run(checkAnalyticsDays)
  expect(await findCheckedState(db, org)).toMatchObject({ differingDays: 0 })
  expect((await findCheckedState(db, org))?.checkedDays).toBeGreaterThanOrEqual(historyDays)
})
