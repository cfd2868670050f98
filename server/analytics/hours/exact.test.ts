import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../test/malformed.ts'
import { testServer } from '../../../test/server.ts'
import { expectExact, randomQuery } from '../../../test/support/analytics/brute-force.ts'
import { openHistory } from '../../../test/support/analytics/history.ts'
import { minuteMs } from '../../platform/durations.ts'
import { buildNext, checkDay, thin } from './build.ts'
import { listChangedHours } from './queries.ts'

const server = await testServer()
const { deps } = server
const { db } = deps

const seed = Number(process.env.ANALYTICS_SEED ?? randomInt(2 ** 31))

const buildAll = async (org: Parameters<typeof buildNext>[1]) => {
  while (await buildNext(deps, org));
}

it(`answers equal counting all rows after 10,000 random changes (seed ${seed})`, { timeout: 240_000 }, async () => {
  const random = seededRandom(seed)
  const history = await openHistory(server, random)
  const { org } = history
  let changes = 0
  let compareAt = 500
  while (changes < 10_000) {
    changes += await history.step()
    // Hours are built at any moment, or not at all for a while.
    if (random.chance(0.1)) {
      server.clock.advance(random.pick([0, minuteMs, 20 * minuteMs]))
      await buildNext(deps, org)
    }
    if (random.chance(0.05)) await thin(deps, org)
    if (changes < compareAt) continue
    compareAt += 500
    await expectExact(
      server,
      history,
      Array.from({ length: 12 }, () => randomQuery(random, history)),
    )
  }
  server.clock.advance(minuteMs)
  await buildAll(org)
  expect(await listChangedHours(db, org)).toEqual([])
  await expectExact(
    server,
    history,
    Array.from({ length: 40 }, () => randomQuery(random, history)),
  )
  const { rows } = await sql<{ hour: Date }>`
    SELECT DISTINCT hour FROM analytics_hours WHERE organization_id = ${org}`.execute(db)
  expect(rows.length).toBeGreaterThan(60)
  while (await checkDay(deps, org));
  const state = await db
    .selectFrom('analytics_states')
    .select(['differing_hours', 'checked_hours'])
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  expect(state.checked_hours).toBeGreaterThan(60)
  expect(state.differing_hours).toBe(0)
})

it('the check finds hours that differ from their conversations, and rebuilds them', async () => {
  const random = seededRandom(seed)
  const history = await openHistory(server, random)
  const { org } = history
  for (let changes = 0; changes < 400; ) changes += await history.step()
  server.clock.advance(minuteMs)
  await buildAll(org)
  await sql`
    UPDATE analytics_hours SET count = count + 7 WHERE organization_id = ${org} AND subject = 'volume' AND grain = 0
      AND hour = (SELECT max(hour) FROM analytics_hours WHERE organization_id = ${org})`.execute(db)
  const { groups } = (
    await server.call('POST', '/v1/analytics/query', { key: history.key, body: { measure: { kind: 'volume' } } })
  ).body
  expect(groups[0].n).toBe(
    (await db.selectFrom('conversations').select('id').where('organization_id', '=', org).execute()).length + 7,
  )
  await sql`
    DELETE FROM analytics_hours WHERE organization_id = ${org}
      AND hour = (SELECT min(hour) FROM analytics_hours WHERE organization_id = ${org})`.execute(db)
  while (await checkDay(deps, org));
  const states = () =>
    db
      .selectFrom('analytics_states')
      .select(['differing_hours', 'checked_until', 'checked_hours'])
      .where('organization_id', '=', org)
      .executeTakeFirstOrThrow()
  expect(await states()).toMatchObject({ differing_hours: 2, checked_until: null })
  expect((await states()).checked_hours).toBeGreaterThanOrEqual(72)
  expect(server.logged.some((line) => line.includes('stored sums differed'))).toBe(true)
  await expectExact(
    server,
    history,
    Array.from({ length: 20 }, () => randomQuery(random, history)),
  )
  while (await checkDay(deps, org));
  expect(await states()).toMatchObject({ differing_hours: 2 })
})

it('hours that changed a moment ago wait, and a build that is overtaken changes nothing', async () => {
  const random = seededRandom(seed)
  const history = await openHistory(server, random)
  const { org } = history
  await history.step()
  expect(await buildNext(deps, org)).toBe(true)
  await buildAll(org)
  await history.step()
  const changed = await listChangedHours(db, org)
  expect(changed.length).toBeGreaterThan(0)
  await buildAll(org)
  expect((await listChangedHours(db, org)).length).toBe(changed.length)
  server.clock.advance(minuteMs)
  await Promise.all(Array.from({ length: 4 }, () => buildAll(org)))
  await buildAll(org)
  expect(await listChangedHours(db, org)).toEqual([])
  await expectExact(
    server,
    history,
    Array.from({ length: 20 }, () => randomQuery(random, history)),
  )
})
