import { sql } from 'kysely'
import type { Db, OrgId } from '../../../platform/db/database.ts'
import { plannedEachTime } from '../../../platform/db/naming-client.ts'
import { resultStatuses, results } from '../../../platform/db/result-codes.ts'
import type { SoundMeasures } from '../../../sound-measures/measures.ts'

/** The maximum numbers of items for each conversation. */
const mostMonitors = 100
const mostMetrics = 50
const mostFindings = 20
/** Longer values are truncated to this number of characters. */
const longestValue = 200

export type PageRow = { id: string; startedAt: Date }

const eachTime = sql.raw(plannedEachTime)

const pageOf = (rows: PageRow[]) => sql`
  unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ startedAt }) => startedAt)}::timestamptz[])
    AS page(id, started_at)`

const monitorIds = (org: OrgId) => sql`ARRAY(
  SELECT m.id FROM monitors m WHERE m.organization_id = ${org} AND m.deleted_at IS NULL
  ORDER BY m.id DESC LIMIT ${sql.lit(mostMonitors)})`

export type IncludedResult = {
  conversationId: string
  monitorId: string
  version: number
  status: (typeof resultStatuses)[number]
  result: (typeof results)[number] | null
  score: number | null
  categories: string[] | null
  fields: Record<string, unknown> | null
}

/** Lists each monitor's result from the newest version, looked up in the primary key. */
export const listPageResults = async (db: Db, org: OrgId, rows: PageRow[]): Promise<IncludedResult[]> => {
  const found = await sql<IncludedResult>`
    SELECT page.id AS "conversationId", n.monitor_id AS "monitorId", n.monitor_version AS version,
      (${resultStatuses}::text[])[n.status + 1] AS status, (${results}::text[])[n.result + 1] AS result, n.score,
      n.categories, n.fields
    FROM ${pageOf(rows)} CROSS JOIN LATERAL (
      SELECT DISTINCT ON (r.monitor_id) r.monitor_id, r.monitor_version, r.status, r.result, r.score, r.categories, r.fields
      FROM monitor_results r
      WHERE r.organization_id = ${org} AND r.monitor_id = ANY(${monitorIds(org)})
        AND r.call_started_at = page.started_at AND r.conversation_id = page.id
      ORDER BY r.monitor_id DESC, r.monitor_version DESC) n ${eachTime}`.execute(db)
  return found.rows
}

export type IncludedMetric = { conversationId: string; key: string; value: number | boolean | string }

export const listPageMetrics = async (db: Db, org: OrgId, rows: PageRow[]): Promise<IncludedMetric[]> => {
  const found = await sql<IncludedMetric>`
    SELECT page.id AS "conversationId", m.key, m.value
    FROM ${pageOf(rows)} CROSS JOIN LATERAL (
      SELECT c.key, CASE jsonb_typeof(c.value)
        WHEN 'string' THEN to_jsonb(left(c.value #>> '{}', ${longestValue}::integer)) ELSE c.value END AS value
      FROM customer_metrics c WHERE c.organization_id = ${org} AND c.conversation_id = page.id
      ORDER BY c.key LIMIT ${sql.lit(mostMetrics)}) m ${eachTime}`.execute(db)
  return found.rows
}

export type IncludedFinding = { conversationId: string; id: string; title: string; status: string; priority: string }

export const listPageFindings = async (db: Db, org: OrgId, rows: PageRow[]): Promise<IncludedFinding[]> => {
  const found = await sql<IncludedFinding>`
    SELECT page.id AS "conversationId", f.id, f.title, f.status, f.priority
    FROM ${pageOf(rows)} CROSS JOIN LATERAL (
      SELECT g.id, g.title, g.status, g.priority
      FROM finding_conversations a JOIN findings g ON g.organization_id = ${org} AND g.id = a.finding_id
      WHERE a.organization_id = ${org} AND a.conversation_id = page.id
      ORDER BY g.id DESC LIMIT ${sql.lit(mostFindings)}) f ${eachTime}`.execute(db)
  return found.rows
}

export type IncludedStart = {
  conversationId: string
  startedAt: Date
  start: string
  isCut: boolean
  format: string | null
}

/** Lists the start of each transcript. */
export const listPageStarts = async (db: Db, org: OrgId, rows: PageRow[], length: number): Promise<IncludedStart[]> => {
  const found = await sql<IncludedStart>`
    SELECT page.id AS "conversationId", page.started_at AS "startedAt", left(t.content, ${length}::integer) AS start,
      t.content_length > ${length}::integer AS "isCut", t.format
    FROM ${pageOf(rows)} JOIN transcripts t ON t.conversation_id = page.id
    WHERE t.organization_id = ${org} AND t.format IS NOT NULL ${eachTime}`.execute(db)
  return found.rows
}

export type IncludedCost = { conversationId: string; cost: number }

/** Lists the total cost of the results from all versions. */
export const listPageCosts = async (db: Db, org: OrgId, rows: PageRow[]): Promise<IncludedCost[]> => {
  const found = await sql<IncludedCost>`
    SELECT page.id AS "conversationId", paid.cost
    FROM ${pageOf(rows)} CROSS JOIN LATERAL (
      SELECT sum(r.cost) AS cost FROM monitor_results r
      WHERE r.organization_id = ${org} AND r.monitor_id = ANY(${monitorIds(org)})
        AND r.call_started_at = page.started_at AND r.conversation_id = page.id) paid
    WHERE paid.cost IS NOT NULL ${eachTime}`.execute(db)
  return found.rows
}

/** The measures of conversations with measured recordings. */
export const listPageSounds = async (db: Db, org: OrgId, rows: PageRow[]) =>
  db
    .selectFrom('conversations')
    .select(['id as conversationId', sql<SoundMeasures>`sound`.as('sound')])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${rows.map(({ id }) => id)}::uuid[])`)
    .where('sound', '<>', sql<string>`'{}'`)
    .execute()

export type IncludedTopic = { conversationId: string; id: string; label: string }

/** Lists the topic of each conversation, or the topic that it was merged into. Omits outliers. */
export const listPageTopics = async (db: Db, org: OrgId, rows: PageRow[]): Promise<IncludedTopic[]> => {
  const found = await sql<IncludedTopic>`
    SELECT o.conversation_id AS "conversationId", t.id, coalesce(t.label, array_to_string(t.terms, ', ')) AS label
    FROM conversation_topics o
    JOIN topics p ON p.organization_id = ${org} AND p.id = o.topic_id
    JOIN topics t ON t.organization_id = ${org} AND t.id = coalesce(p.merged_into_id, p.id)
    WHERE o.organization_id = ${org} AND o.conversation_id = ANY(${rows.map(({ id }) => id)}::uuid[])`.execute(db)
  return found.rows
}
