import { beforeAll, expect } from 'vitest'
import { onPlainPostgres } from '../../test/citus.ts'
import { openPlans } from '../../test/plans.ts'
import { orgIdOf } from '../platform/ids.ts'
import {
  countScored,
  listAffected,
  listDueMonitors,
  listDueOrganizationsAllOrgs,
  listHours,
} from '../spikes/queries.ts'
import { countByTime } from './queries.ts'

const { it } = onPlainPostgres('reads plans of one node')

/** Checks that counts over long periods only read the results index. */

const { pool, db, explain } = await openPlans()

const org = orgIdOf('0197a3b0-0000-7000-8000-000000000001')
const monitor = (number: number) => `0197a3b0-0006-7000-8000-00000000000${number}`
const busy = monitor(1)
const since = new Date('2026-01-01T00:00:00Z')
const until = new Date('2026-03-01T00:00:00Z')

// There is one call per minute for 83 days, with results from three monitors and realistic text.
beforeAll(async () => {
  await pool.query(`
    INSERT INTO organizations (id, name, slug, monitors, observability, metrics, monitor_exports, export_webhooks,
      experiments_v2, phi_mode) VALUES ('${org}', 'Large', 'large', true, true, true, true, true, true, false)`)
  await pool.query(`
    INSERT INTO monitors (organization_id, id, name, kind, enabled, scope, sample_percent, current_version)
    VALUES ('${org}', '${busy}', 'Busy', 'external', true, '{}', 100, 1)`)
  await pool.query(`
    INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at,
      monitor_version, status, result, score, reasoning, evidence, evaluator)
    SELECT '${org}', ('${busy.slice(0, -1)}' || m)::uuid,
      ('0197a3b0-0005-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '2026-01-01Z'::timestamptz + n * interval '1 min',
      now(), v, 0, (n % 20 = v)::int, n % 7, repeat('words ', 20), '[]', 'test'
    FROM generate_series(0, 119999) n, generate_series(0, 2) m, generate_series(1, 2) v WHERE v = 1 OR n % 100 = 1
    ORDER BY m, n, v`)
  await pool.query('VACUUM ANALYZE')
}, 120_000)

/** Returns the scans that read results in the statements sent by `run`. */
const scans = async (run: () => Promise<unknown>) => {
  const { nodes } = await explain(run)
  return nodes
    .filter((node) => node['Relation Name'] === 'monitor_results')
    .map((node) => [node['Node Type'], node['Index Name']])
}

const asked = { interval: 'day', timezone: 'Europe/Berlin', since, until, mostBuckets: 1_000 } as const
const span = { monitorId: busy, version: 1, since, until }

it.each([
  ['a trend', () => countByTime(db, org, busy, { ...asked, withCost: false, version: undefined })],
  ['a trend of a version', () => countByTime(db, org, busy, { ...asked, withCost: false, version: 1 })],
  ['the hours of a monitor', () => listHours(db, org, span)],
  ['the rate since a rise', () => countScored(db, org, span)],
  ['what has something new', () => listDueOrganizationsAllOrgs(db, span)],
  ['what has something new in an organization', () => listDueMonitors(db, org, span, { limit: 10, after: undefined })],
])('%s only reads the primary key', async (_name, run) => {
  expect(await scans(run)).toEqual([['Index Only Scan', 'monitor_results_pkey']])
})

it('the newest affected ones are read from their index', async () => {
  expect(await scans(() => listAffected(db, org, span, 100))).toEqual([['Index Scan', 'monitor_results_affected_idx']])
})
