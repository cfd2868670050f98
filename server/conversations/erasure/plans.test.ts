import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testDatabase } from '../../../test/database.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { DB } from '../../platform/db/tables.ts'
import { deleteSpansOf } from './queries.ts'

/** The spans of a conversation are found among 50,000 by the indexes alone. */

type Plan = {
  'Node Type': string
  'Index Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

const { connection, drop } = await testDatabase()
const pool = new pg.Pool({ ...connection, max: 1, options: '-c TimeZone=UTC' })
// A pool that has ended is still closing its connection, which ends sooner where the database is dropped.
pool.on('error', () => {})
const executed: { sql: string; parameters: readonly unknown[] }[] = []
const db: Db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), log: ({ query }) => void executed.push(query) })
afterAll(async () => {
  await db.destroy()
  await drop()
})

const org = '0197a3b0-0000-7000-8000-000000000001' as OrgId

// Ten spans a trace, the first of which names the conversation; every second conversation is named as its trace, by no
// span.
beforeAll(async () => {
  await pool.query(`
    INSERT INTO organizations (id, name, slug, monitors, observability, metrics, monitor_exports, export_webhooks,
      experiments_v2, phi_mode) VALUES ('${org}', 'Large', 'large', true, true, true, true, true, true, false)`)
  await pool.query(`
    INSERT INTO otel_spans (organization_id, trace_id, span_id, conversation_key, span)
    SELECT '${org}', 'trace-' || n / 10, n, CASE WHEN n % 20 = 0 THEN 'call-' || n / 10 END, repeat('words ', 20)
    FROM generate_series(0, 49999) n`)
  await pool.query('VACUUM ANALYZE')
}, 60_000)

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

it('the spans of erased conversations go, and few others are read', async () => {
  await deleteSpansOf(db, org, ['call-1000', 'trace-1001'])
  const { rows } = await pool.query(`
    SELECT DISTINCT n / 10 AS trace FROM generate_series(0, 49999) n
    WHERE NOT EXISTS (SELECT FROM otel_spans WHERE trace_id = 'trace-' || n / 10 AND span_id = n::text) ORDER BY 1`)
  expect(rows).toEqual([{ trace: 1_000 }, { trace: 1_001 }])

  const plans: Plan[] = []
  for (const { sql, parameters } of executed) {
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, [...parameters])
    plans.push(rows[0]['QUERY PLAN'][0].Plan)
  }
  const indexes = plans.flatMap(nodesOf).flatMap((node) => node['Index Name'] ?? [])
  expect(indexes).toEqual(['otel_spans_conversation_idx', 'otel_spans_pkey'])
  expect(plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0)).toBeLessThan(50)
})
