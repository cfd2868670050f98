import { beforeAll, expect } from 'vitest'
import { onPlainPostgres } from '../../../test/citus.ts'
import { openPlans } from '../../../test/plans.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { deleteSpansOf } from './queries.ts'

const { it } = onPlainPostgres('reads plans of one node')

/** Checks that a conversation's spans are found among 50,000 using only indexes. */

const { pool, db, explain } = await openPlans()

const org = orgIdOf('0197a3b0-0000-7000-8000-000000000001')

// Each trace has ten spans, and the first one has the conversation ID. Every second conversation uses its trace ID
// instead.
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

it('the spans of erased conversations are deleted, and few others are read', async () => {
  const { nodes, pages } = await explain(() => deleteSpansOf(db, org, ['call-1000', 'trace-1001']))
  const { rows } = await pool.query(`
    SELECT DISTINCT n / 10 AS trace FROM generate_series(0, 49999) n
    WHERE NOT EXISTS (SELECT FROM otel_spans WHERE trace_id = 'trace-' || n / 10 AND span_id = n::text) ORDER BY 1`)
  expect(rows).toEqual([{ trace: 1_000 }, { trace: 1_001 }])
  const indexes = nodes.flatMap((node) => node['Index Name'] ?? [])
  expect(indexes).toEqual(['otel_spans_conversation_idx', 'otel_spans_pkey'])
  expect(pages).toBeLessThan(50)
})
