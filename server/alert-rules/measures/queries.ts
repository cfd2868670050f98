import { type RawBuilder, sql } from 'kysely'
import { notApplicable } from '../../filters/category.ts'
import { measureAt, type Resolved, whereSelected } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { codes } from '../../platform/db/result-codes.ts'
import { dayMs } from '../../platform/durations.ts'

export type GroupBy = 'agent' | 'company' | 'version'

/** The value measured for each conversation. A conversation counts as a hit if its value is above the threshold. */
export type Measure =
  | { kind: 'rate'; monitorId: string }
  | { kind: 'score'; monitorId: string; threshold: number; quantile: number | undefined }
  | { kind: 'category'; monitorId: string; category: string }
  | { kind: 'field'; monitorId: string; field: string; threshold: number; quantile: number | undefined }
  | { kind: 'signal' | 'sound'; path: string[]; threshold: number; quantile: number | undefined }
  | { kind: 'duration'; threshold: number; quantile: number | undefined }
  | { kind: 'volume' }

/** The sums for one group in one period. */
export type WindowSums = {
  /** The number of conversations with a value. */
  count: number
  hits: number
  sum: number
  squares: number
  /** Null unless the measure is a percentile. */
  quantile: number | null
}

type MeasureRequest = {
  measure: Measure
  /** Undefined selects all conversations. */
  selection: Resolved | undefined
  groupBy: GroupBy | null
  /** The start of each period, and the end of the last one. */
  bounds: Date[]
  /** The maximum number of rows to return. Each row is a group and a period. */
  limit?: number
}

const groups = {
  agent: { table: sql`agents`, column: sql`conversations.agent_id` },
  company: { table: sql`companies`, column: sql`conversations.company_id` },
  version: { table: sql`agent_versions`, column: sql`conversations.agent_version_id` },
}

const groupColumn = (groupBy: GroupBy | null): RawBuilder<string> =>
  groupBy === null ? sql<string>`''` : sql<string>`${groups[groupBy].column}::text`

type Within = { since: Date; until: Date }

const withinOf = (bounds: Date[]): Within => {
  const [since, until] = [bounds[0], bounds.at(-1)]
  if (!since || !until) throw new Error('A measure needs at least one period')
  return { since, until }
}

/** Selects the conversations of the window that match the filter. */
const selectConversations = (db: Db, org: OrgId, selection: Resolved | undefined, { since, until }: Within) =>
  whereSelected(
    db
      .selectFrom('conversations')
      .where('conversations.started_at', '>=', since)
      .where('conversations.started_at', '<', until),
    org,
    selection ?? {},
  )

/** Selects one row for each scored conversation, from the newest version that has a result. */
const newestResults = (org: OrgId, monitorId: string, { since, until }: Within) => sql`
  SELECT DISTINCT ON (r.call_started_at, r.conversation_id)
    r.organization_id, r.conversation_id, r.call_started_at, r.status, r.result, r.score
  FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}
    AND r.call_started_at >= ${since}::timestamptz AND r.call_started_at < ${until}::timestamptz
  ORDER BY r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC`

/**
 * Selects one row for each conversation with categories in its newest result. An index contains the categories, so
 * results are not read.
 */
const newestCategories = (org: OrgId, monitorId: string, { since, until }: Within) => sql`
  SELECT r.organization_id, r.conversation_id, r.call_started_at, r.categories
  FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId} AND r.categories IS NOT NULL
    AND r.call_started_at >= ${since}::timestamptz AND r.call_started_at < ${until}::timestamptz
    AND NOT EXISTS (
      SELECT 1 FROM monitor_results b
      WHERE b.organization_id = ${org} AND b.monitor_id = ${monitorId} AND b.call_started_at = r.call_started_at
        AND b.conversation_id = r.conversation_id AND b.monitor_version > r.monitor_version)`

/** Selects one row for each conversation, with the field from the newest version that has a result. */
const newestField = (org: OrgId, monitorId: string, field: string, { since, until }: Within) => sql`
  SELECT f.organization_id, f.conversation_id, f.call_started_at, CASE jsonb_typeof(f.value)
    WHEN 'number' THEN f.value::float8 WHEN 'boolean' THEN (f.value = 'true'::jsonb)::integer::float8 END AS value
  FROM (
    SELECT DISTINCT ON (r.call_started_at, r.conversation_id)
      r.organization_id, r.conversation_id, r.call_started_at, r.fields -> ${field}::text AS value
    FROM monitor_results r
    WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}
      AND r.call_started_at >= ${since}::timestamptz AND r.call_started_at < ${until}::timestamptz
    ORDER BY r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC) f`

const ofResults = ['rate', 'score', 'category', 'field'] as const

type ResultMeasure = Extract<Measure, { kind: (typeof ofResults)[number] }>
type ConversationMeasure = Exclude<Measure, ResultMeasure>

const isOfResults = (measure: Measure): measure is ResultMeasure =>
  (ofResults as readonly string[]).includes(measure.kind)

/** Ignores larger values, as experiments do. The sum of their squares could overflow. */
const isCountable = (value: RawBuilder<unknown>) => sql`abs(${value}) <= 1e15::float8`

/** Selects the results with their values and the condition under which they count. */
const readResults = (org: OrgId, measure: ResultMeasure, within: Within) => {
  const { monitorId } = measure
  const noValue = sql`NULL::float8`
  switch (measure.kind) {
    case 'rate':
      return {
        results: newestResults(org, monitorId, within),
        hit: sql`n.result = ${codes.affected}`,
        value: noValue,
        counts: sql`n.result IS NOT NULL`,
      }
    case 'score':
      return {
        results: newestResults(org, monitorId, within),
        hit: sql`n.score > ${measure.threshold}::float8`,
        value: sql`n.score`,
        counts: isCountable(sql`n.score`),
      }
    case 'category':
      return {
        results: newestCategories(org, monitorId, within),
        hit: sql`${measure.category}::text = ANY(n.categories)`,
        value: noValue,
        counts: measure.category === notApplicable ? sql`true` : sql`${notApplicable}::text <> ALL(n.categories)`,
      }
    case 'field':
      return {
        results: newestField(org, monitorId, measure.field, within),
        hit: sql`n.value > ${measure.threshold}::float8`,
        value: sql`n.value`,
        counts: isCountable(sql`n.value`),
      }
  }
}

const resultRows = (db: Db, org: OrgId, measure: ResultMeasure, { selection, groupBy, bounds }: MeasureRequest) => {
  const within = withinOf(bounds)
  const { results, hit, value, counts } = readResults(org, measure, within)
  if (selection === undefined && groupBy === null) {
    return sql`SELECT '' AS key, n.call_started_at AS at, ${hit} AS hit, ${value} AS value, n.conversation_id AS id
      FROM (${results}) n WHERE ${counts}`
  }
  const conversations = selectConversations(db, org, selection, within).select([
    'conversations.organization_id',
    'conversations.id',
    'conversations.started_at as at',
    groupColumn(groupBy).as('key'),
  ])
  // A result also stores the start of its conversation. Joining on the start as well lets both sides be read in index
  // order.
  return sql`SELECT s.key, n.call_started_at AS at, ${hit} AS hit, ${value} AS value, n.conversation_id AS id
    FROM (${results}) n JOIN (${conversations}) s
      ON s.organization_id = ${org} AND s.at = n.call_started_at AND s.id = n.conversation_id
    WHERE ${counts}`
}

const measuredValue = (measure: ConversationMeasure): RawBuilder<number | null> => {
  if (measure.kind === 'volume') return sql<number | null>`NULL::float8`
  if (measure.kind === 'duration') return sql<number | null>`conversations.duration_seconds::float8`
  return measureAt(measure.kind, measure.path)
}

const conversationRows = (
  db: Db,
  org: OrgId,
  measure: ConversationMeasure,
  { selection, groupBy, bounds }: MeasureRequest,
) => {
  const isVolume = measure.kind === 'volume'
  const conversations = selectConversations(db, org, selection, withinOf(bounds)).select([
    groupColumn(groupBy).as('key'),
    'conversations.started_at as at',
    measuredValue(measure).as('value'),
    'conversations.id',
  ])
  if (isVolume) return sql`SELECT s.key, s.at, false AS hit, s.value, s.id FROM (${conversations}) s`
  // Without OFFSET, the planner would extract the value from the measures again each time it is used.
  return sql`SELECT s.key, s.at, s.value > ${measure.threshold}::float8 AS hit, s.value, s.id
    FROM (${conversations} OFFSET 0) s WHERE s.value IS NOT NULL`
}

/** Selects `key`, `at`, `hit`, `value`, and the conversation's ID. */
const rowsOf = (db: Db, org: OrgId, asked: MeasureRequest): RawBuilder<unknown> => {
  const { measure } = asked
  return isOfResults(measure) ? resultRows(db, org, measure, asked) : conversationRows(db, org, measure, asked)
}

const quantileOf = (measure: Measure): number | undefined => ('quantile' in measure ? measure.quantile : undefined)

const periodOf = (bounds: Date[]): RawBuilder<unknown> =>
  bounds.length === 2 ? sql`0` : sql`width_bucket(v.at, ${bounds}::timestamptz[]) - 1`

/** Sums the measured values by group and period. Groups and periods without conversations are omitted. */
export const sumMeasure = async (
  db: Db,
  org: OrgId,
  asked: MeasureRequest,
): Promise<(WindowSums & { key: string; period: number })[]> => {
  const quantile = quantileOf(asked.measure)
  const quantileColumn =
    quantile === undefined
      ? sql`NULL::float8`
      : sql`percentile_disc(${quantile}::float8) WITHIN GROUP (ORDER BY v.value)`
  const isCounted = ['rate', 'category', 'volume'].includes(asked.measure.kind)
  const period = periodOf(asked.bounds)
  const sums = isCounted ? sql`0 AS sum, 0 AS squares` : sql`sum(v.value) AS sum, sum(v.value * v.value) AS squares`
  const { rows } = await sql<WindowSums & { key: string; period: number }>`
    SELECT v.key, ${period} AS period, count(*) AS count, count(*) FILTER (WHERE v.hit) AS hits, ${sums},
      ${quantileColumn} AS quantile
    FROM (${rowsOf(db, org, asked)}) v
    WHERE v.key IS NOT NULL
    GROUP BY v.key, period LIMIT ${asked.limit ?? null}`.execute(db)
  return rows
}

/** The sums for a period and an earlier one. Values above the median of both periods together count as hits. */
export type PairSums = { key: string; period: number; median: number; before: WindowSums; now: WindowSums }

/**
 * Compares the values in each period with those of the period that is `back` periods earlier, by group. Pairs without
 * values are omitted.
 */
export const sumPairs = async (db: Db, org: OrgId, asked: MeasureRequest & { back: number }): Promise<PairSums[]> => {
  const sums = (isNow: RawBuilder<boolean>) => sql`json_build_object('count', count(*) FILTER (WHERE ${isNow}),
    'hits', count(*) FILTER (WHERE ${isNow} AND p.value > m.median), 'sum', 0, 'squares', 0,
    'quantile', percentile_disc(0.5) WITHIN GROUP (ORDER BY p.value) FILTER (WHERE ${isNow}))`
  const { rows } = await sql<PairSums>`
    WITH periods AS MATERIALIZED (
      SELECT v.key, ${periodOf(asked.bounds)} AS period, v.value FROM (${rowsOf(db, org, asked)}) v
      WHERE v.key IS NOT NULL
    ), pairs AS MATERIALIZED (
      SELECT key, period, true AS is_now, value FROM periods
      UNION ALL
      SELECT key, period + ${asked.back}::integer, false, value FROM periods
    ), medians AS (
      SELECT key, period, percentile_disc(0.5) WITHIN GROUP (ORDER BY value) AS median FROM pairs GROUP BY key, period
    )
    SELECT p.key, p.period, m.median, ${sums(sql<boolean>`NOT p.is_now`)} AS before, ${sums(sql<boolean>`p.is_now`)} AS now
    FROM pairs p JOIN medians m ON m.key = p.key AND m.period = p.period
    WHERE p.period < ${asked.bounds.length - 1}::integer
    GROUP BY p.key, p.period, m.median LIMIT ${asked.limit ?? null}`.execute(db)
  return rows
}

/** Lists the newest conversations of a group that show the problem: either hits, or conversations that are not hits. */
export const listExamples = async (
  db: Db,
  org: OrgId,
  asked: MeasureRequest & { key: string; hits: boolean; limit: number },
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    SELECT v.id FROM (${rowsOf(db, org, asked)}) v
    WHERE v.key = ${asked.key} AND v.hit = ${asked.hits}
    ORDER BY v.at DESC, v.id DESC LIMIT ${asked.limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Returns the names of groups by their keys. */
export const findGroupNames = async (
  db: Db,
  org: OrgId,
  groupBy: GroupBy,
  keys: string[],
): Promise<Map<string, string>> => {
  if (keys.length === 0) return new Map()
  const of =
    groupBy === 'version'
      ? sql`SELECT v.id, a.name || ', version ' || coalesce(v.label, v.number::text) AS name
          FROM agent_versions v JOIN agents a ON a.organization_id = ${org} AND a.id = v.agent_id
          WHERE v.organization_id = ${org} AND v.id = ANY(${keys}::uuid[])`
      : sql`SELECT id, name FROM ${groups[groupBy].table} WHERE organization_id = ${org} AND id = ANY(${keys}::uuid[])`
  const { rows } = await sql<{ id: string; name: string }>`${of}`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

type Recent = { selection: Resolved | undefined; since: Date; now: Date }

/** Ignores conversations that start much later than now. Tolerates a slightly fast clock. */
const selectLatestStart = (db: Db, org: OrgId, { selection, since, now }: Recent) =>
  selectConversations(db, org, selection, { since, until: new Date(now.getTime() + dayMs) })
    .select('conversations.started_at as at')
    .orderBy('conversations.started_at', 'desc')
    .limit(1)

/** Returns the start of the latest conversation after `since`, or undefined if there was none. */
export const findLatestStart = async (db: Db, org: OrgId, recent: Recent): Promise<Date | undefined> =>
  (await selectLatestStart(db, org, recent).executeTakeFirst())?.at

/** For watched groups, the search starts at an earlier time. */
type RecentGroups = Recent & { groupBy: GroupBy; watched: { keys: string[]; since: Date } }

/**
 * Lists the groups that had conversations after `since`, with the start of the latest conversation. Looks up the latest
 * conversation of each group in an index instead of reading all conversations.
 */
export const listRecentGroups = async (
  db: Db,
  org: OrgId,
  { groupBy, watched, since, ...recent }: RecentGroups,
): Promise<{ key: string; lastAt: Date }[]> => {
  const { table, column } = groups[groupBy]
  const sinceOfGroup = sql<boolean>`conversations.started_at >=
    CASE WHEN g.id::text = ANY(${watched.keys}::text[]) THEN ${watched.since}::timestamptz ELSE ${since}::timestamptz END`
  const latest = selectLatestStart(db, org, { ...recent, since: watched.since })
    .where(sql<boolean>`${column} = g.id`)
    .where(sinceOfGroup)
  const { rows } = await sql<{ key: string; lastAt: Date }>`
    SELECT g.id::text AS key, l.at AS "lastAt"
    FROM (SELECT id FROM ${table} WHERE organization_id = ${org}) g CROSS JOIN LATERAL (${latest}) l`.execute(db)
  return rows
}
