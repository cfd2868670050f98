import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { oldestFirst } from '../../platform/db/pages.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

type MetricValue = number | boolean | string

export type MetricRow = { conversationId: string; key: string; value: MetricValue; comment: string | null }

const columns = ['key', sql<MetricValue>`value`.as('value'), 'comment', 'updated_at as updatedAt'] as const

const selectMetrics = (db: Db, org: OrgId, conversationId: string) =>
  db
    .selectFrom('customer_metrics')
    .select(columns)
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)

export const listMetrics = (db: Db, org: OrgId, conversationId: string, page: Page) =>
  selectMetrics(db, org, conversationId).$call(oldestFirst('key', page)).execute()

export const getMetric = (db: Db, org: OrgId, conversationId: string, key: string) =>
  selectMetrics(db, org, conversationId).where('key', '=', key).executeTakeFirstOrThrow(notFound)

export const deleteMetric = (db: Db, org: OrgId, conversationId: string, key: string) =>
  db
    .deleteFrom('customer_metrics')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('key', '=', key)
    .returning('key')
    .executeTakeFirstOrThrow(notFound)

export const conversationExists = async (db: Db, org: OrgId, id: string): Promise<boolean> => {
  const found = await db
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirst()
  return found !== undefined
}

/** Returns whether an organization redacts everything before storing it. */
export const redactsMetrics = async (db: Db, org: OrgId): Promise<boolean> => {
  const settings = await db
    .selectFrom('organizations')
    .select(sql<boolean>`phi_mode AND redaction`.as('redacts'))
    .where('id', '=', org)
    .executeTakeFirst()
  return settings?.redacts ?? true
}

/** Lists only the keys, because values and comments can be long. */
export const listMetricKeys = (db: Db, org: OrgId, conversationIds: string[]) =>
  db
    .selectFrom('customer_metrics')
    .select(['conversation_id as conversationId', sql<string[]>`array_agg(key)`.as('keys')])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .groupBy('conversation_id')
    .execute()

/** Returns the last row for each key, in a fixed order so that two batches never deadlock. */
const lastOfEach = (rows: MetricRow[]): MetricRow[] => {
  const last = new Map(rows.map((row) => [`${row.conversationId} ${row.key}`, row]))
  return [...last].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

const columnOf = (rows: MetricRow[], type: string, read: (row: MetricRow) => string | null): RawBuilder<unknown> =>
  sql`${rows.map(read)}::${sql.raw(type)}[]`

/**
 * Writes new or changed values, and returns the outcome for each written row. The caller has locked or inserted the
 * conversations, so they exist.
 */
export const writeMetrics = async (trx: Db, org: OrgId, given: MetricRow[]) => {
  if (given.length === 0) return []
  const rows = lastOfEach(given)
  const { rows: written } = await sql<{ conversationId: string; key: string; created: boolean }>`
    INSERT INTO customer_metrics AS m (organization_id, conversation_id, key, value, comment)
    SELECT ${org}::uuid, g.conversation_id, g.key, g.value, g.comment
    FROM unnest(
      ${columnOf(rows, 'uuid', (row) => row.conversationId)}, ${columnOf(rows, 'text', (row) => row.key)},
      ${columnOf(rows, 'jsonb', (row) => JSON.stringify(row.value))}, ${columnOf(rows, 'text', (row) => row.comment)}
    ) AS g(conversation_id, key, value, comment)
    ON CONFLICT ON CONSTRAINT customer_metrics_pkey
    DO UPDATE SET value = excluded.value, comment = excluded.comment, updated_at = excluded.updated_at
    WHERE (m.value, m.comment) IS DISTINCT FROM (excluded.value, excluded.comment)
    RETURNING conversation_id AS "conversationId", key, (xmax = 0) AS created`.execute(trx)
  return written
}

/** Returns the conversations that have a changed metric. */
export const upsertMetrics = async (trx: Db, org: OrgId, rows: MetricRow[]): Promise<string[]> => [
  ...new Set((await writeMetrics(trx, org, rows)).map(({ conversationId }) => conversationId)),
]
