import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { onPlainPostgres } from '../../../test/citus.ts'
import { openPlans } from '../../../test/plans.ts'
import { openTestQueue } from '../../../test/support/jobs/queue.ts'
import { quietLog } from '../../../test/support/jobs/quiet-log.ts'
import type { Db, OrgId } from '../db/database.ts'
import { daysBefore, dueRows } from '../db/due-rows.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { trust } from '../sweeps.ts'
import { defineCleanup } from './define-cleanup.ts'

const [large, small] = [newId(), newId()].sort() as [OrgId, OrgId]
const now = new Date('2026-11-20T09:00:00Z')
const clock = { now: () => now }

const oldMails = dueRows({ table: 'mails', isDue: (at) => sql`created_at < ${daysBefore(at, 30)}` })
const sentTexts = dueRows({
  table: 'mails',
  isDue: () => sql`status = 'failed' AND text <> ''`,
  change: sql`text = ''`,
})
const sweep = defineCleanup({
  name: 'test.cleanup',
  schedule: '0 0 1 1 *',
  rows: { texts: sentTexts, mails: oldMails },
})

const addOrganization = (db: Db, id: OrgId) =>
  sql`
    INSERT INTO organizations (id, name, slug, monitors, observability, metrics, monitor_exports, export_webhooks,
      experiments_v2, phi_mode)
    VALUES (${id}, 'Acme', ${id}, true, true, true, true, true, true, false)`.execute(db)

const addMails = (
  db: Db,
  org: OrgId,
  { count, daysOld, status = 'kept' }: { count: number; daysOld: number; status?: string },
) =>
  sql`
    INSERT INTO mails (organization_id, id, recipient, subject, text, sealed, status, created_at)
    SELECT ${org}::uuid, gen_random_uuid(), 'a@example.com', 'Hello', 'text', false, ${status}, ${daysBefore(now, daysOld)}
    FROM generate_series(1, ${count}::int)`.execute(db)

let queue: Awaited<ReturnType<typeof openTestQueue>>
beforeAll(async () => {
  queue = await openTestQueue()
  for (const org of [large, small]) await addOrganization(queue.db, org)
})
afterAll(() => queue.close())
beforeEach(async () => {
  await sql`TRUNCATE mails`.execute(queue.db)
})

const run = async (only?: OrgId) => {
  const deps = { db: queue.db as Db, jobs: queue.jobs, log: quietLog() as Log, clock, sweeps: trust(clock) }
  await queue.jobs.enqueue(queue.db, sweep, only ? { organizationId: only } : {})
  return queue.jobs.drain([sweep], deps)
}

const count = async (org: OrgId, where = sql`true`): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM mails WHERE organization_id = ${org} AND ${where}`.execute(queue.db)
  return rows[0]?.count ?? Number.NaN
}

test('deletes and changes everything due, in every organization', async () => {
  await addMails(queue.db, large, { count: 1_700, daysOld: 31 })
  await addMails(queue.db, large, { count: 700, daysOld: 1, status: 'failed' })
  await addMails(queue.db, small, { count: 2, daysOld: 31 })
  await addMails(queue.db, small, { count: 3, daysOld: 29 })
  const outcomes = await run()
  // One job lists the organizations, and each organization has its own job.
  expect(outcomes).toHaveLength(3)
  expect([await count(large), await count(large, sql`text = ''`), await count(small)]).toEqual([700, 700, 3])
})

test('the sweep of one organization does not affect the others', async () => {
  await addMails(queue.db, large, { count: 5, daysOld: 31 })
  await addMails(queue.db, small, { count: 5, daysOld: 31 })
  await run(small)
  expect([await count(large), await count(small)]).toEqual([5, 0])
})

test('skips rows that another process has locked', async () => {
  await addMails(queue.db, small, { count: 5, daysOld: 31 })
  await queue.db.transaction().execute(async (trx) => {
    await sql`SELECT FROM mails WHERE organization_id = ${small} LIMIT 2 FOR UPDATE`.execute(trx)
    await run()
    expect(await count(small)).toBe(2)
  })
  await run()
  expect(await count(small)).toBe(0)
})

const plain = onPlainPostgres('reads plans of one node')

plain.it('reads what is due by the organization, and none of the rest', async () => {
  const { db, pool, explain } = await openPlans()
  for (const org of [large, small]) await addOrganization(db, org)
  await addMails(db, large, { count: 50_000, daysOld: 1 })
  await addMails(db, large, { count: 40, daysOld: 31 })
  await addMails(db, small, { count: 40, daysOld: 31 })
  await pool.query('VACUUM ANALYZE mails')
  const listed = await explain(() => oldMails.listOrganizationsAllOrgs(db, now))
  expect(listed.answer.map(({ id }) => id)).toEqual([large, small])
  expect(listed.pages).toBeLessThan(100)
  const swept = await explain(() => oldMails.sweep(db, small, { now, limit: 500 }))
  expect(swept.answer).toBe(40)
  expect(swept.nodes.flatMap((node) => node['Index Name'] ?? [])).toContain('mails_old_idx')
  expect(swept.pages).toBeLessThan(500)
})
