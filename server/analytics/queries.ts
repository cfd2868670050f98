import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { notApplicable } from '../filters/category.ts'
import { measureAt, metricValue, type Resolved, whereSelected } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { plannedEachTime } from '../platform/db/naming-client.ts'
import type { Replica } from '../platform/db/replica.ts'
import { codes } from '../platform/db/result-codes.ts'
import { limited, limitedSquare, stepOf } from '../platform/db/rounded-values.ts'
import type { DB } from '../platform/db/tables.ts'
import { invalid } from '../platform/errors.ts'
import { type SoundName, soundPaths } from '../sound-measures/names.ts'
import { z95 } from '../statistics/distributions.ts'
import { type SignalName, signalPaths } from '../transcripts/signals/paths.ts'
import { valueOfJudge } from './days/queries.ts'

/** The value that is measured, regardless of the figure that is computed from it. */
export type Measured =
  | { kind: 'volume' | 'duration' | 'delay' }
  | { kind: 'signal'; signal: SignalName }
  | { kind: 'sound'; name: SoundName }
  | { kind: 'metric'; key: string }
  | { kind: 'rate'; monitorId: string }
  | { kind: 'score'; monitorId: string }
  | { kind: 'agreement'; monitorId: string }
  | { kind: 'cost' | 'latency'; monitorId?: string }
  /** With `categories`, the category becomes the first group. */
  | { kind: 'category'; monitorId: string; category?: string; categories?: string[] }
  | { kind: 'field'; monitorId: string; field: string }

/** Contains the sums of one group in one period. */
export type Sums = {
  /** The number of items that have a value. */
  count: number
  hits: number
  sum: number
  squares: number
  /** The percentile and its interval as steps of rounded values; null unless the query asks for one, or if unknown. */
  step: number | null
  lowStep: number | null
  highStep: number | null
}

/** The values of each dimension, null if there is none. Undefined for everything outside the largest groups. */
export type Key = (string | null)[]

export type GroupSums = Sums & {
  key: Key | undefined
  /** Undefined for the sums of all periods. */
  period: number | undefined
}

/** The column values that a group's number stands for. The text is empty for hours and weekdays. */
export type NumberedGroup = { number: number; k1: string | null; k2: string | null }

/** Either the steps of hours or those of the whole day are read. */
export type PackedDay = { day: Date; hours: Buffer; hourSteps: Buffer | null; daySteps: Buffer | null }

/** Sums of one group, interval, and rounded value. */
export type Cell = {
  k1: string | null
  k2: string | null
  interval: number
  step: number | null
  count: number
  hits: number
  sum: number
  squares: number
}

type Bound = RawBuilder<Date> | undefined
type Times = { since: Bound; until: Bound }

export type SumRequest = {
  measure: Measured
  /** The filter without its period. */
  selection: Resolved
  groupBy: string[]
  timezone: string
  /** The times that are read from conversations and results. */
  ranges: { since: Date | undefined; until: Date | undefined }[]
  /** The starts of the periods, and the end of the last one. Undefined without periods. */
  bounds: Date[] | undefined
  quantile: number | undefined
  /** The groups to show, or the number of the largest groups to show. */
  show: { keys: Key[] } | { most: number }
}

const instant = (at: Date | undefined): Bound => at && sql<Date>`${at}::timestamptz`

const within = (at: RawBuilder<unknown>, { since, until }: Times): RawBuilder<boolean> => {
  const clauses = [...(since ? [sql`${at} >= ${since}`] : []), ...(until ? [sql`${at} < ${until}`] : [])]
  return clauses.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(clauses, sql` AND `)}`
}

const columns: Record<string, RawBuilder<unknown>> = {
  agent: sql`conversations.agent_id`,
  version: sql`conversations.agent_version_id`,
  company: sql`conversations.company_id`,
  channel: sql`conversations.channel`,
  direction: sql`conversations.direction`,
  endReason: sql`conversations.end_reason`,
}

const metadataOf = (key: string): RawBuilder<unknown> =>
  sql`CASE WHEN jsonb_typeof(conversations.metadata -> ${key}::text) IN ('string', 'number', 'boolean')
    THEN conversations.metadata ->> ${key}::text END`

type Grouping = Pick<SumRequest, 'groupBy' | 'timezone'> & { org: OrgId }

/** Selects the format of a conversation's transcript, which is that of its provider. */
const providerOf = (org: OrgId): RawBuilder<unknown> => sql`(
  SELECT t.format FROM transcripts t WHERE t.organization_id = ${org} AND t.conversation_id = conversations.id)`

/** Selects the topic of a conversation, or the one that it was merged into. */
const topicOf = (org: OrgId): RawBuilder<unknown> => sql`(
  SELECT coalesce(p.merged_into_id, p.id) FROM conversation_topics o
  JOIN topics p ON p.organization_id = ${org} AND p.id = o.topic_id
  WHERE o.organization_id = ${org} AND o.conversation_id = conversations.id)`

/** Selects the categories of a conversation, one row each, or a row without one. */
const categoriesOf = (org: OrgId, monitorId: string): RawBuilder<unknown> => {
  const newest = sql`(
    SELECT r.categories FROM monitor_results r
    WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}::uuid
      AND r.call_started_at = conversations.started_at AND r.conversation_id = conversations.id
    ORDER BY r.monitor_version DESC LIMIT 1)`
  return sql`unnest(coalesce(nullif(${newest}, '{}'), ARRAY[NULL]::text[]))`
}

const dimensionOf = (
  name: string,
  at: RawBuilder<unknown>,
  { timezone, org }: Pick<Grouping, 'timezone' | 'org'>,
): RawBuilder<unknown> => {
  if (name.startsWith('category:')) return categoriesOf(org, name.slice('category:'.length).toLowerCase())
  if (name === 'provider') return providerOf(org)
  if (name === 'topic') return topicOf(org)
  if (name === 'hourOfDay') return sql`extract(hour FROM ${at} AT TIME ZONE ${timezone}::text)::integer`
  if (name === 'weekday') return sql`extract(isodow FROM ${at} AT TIME ZONE ${timezone}::text)::integer`
  return columns[name] ?? metadataOf(name.slice('metadata:'.length))
}

/** Selects two columns, `k1` and `k2`. */
const keysOf = ({ groupBy, ...grouping }: Grouping, at: RawBuilder<unknown>) =>
  [0, 1].map((index) => {
    const name = groupBy[index]
    return name === undefined ? sql`''` : dimensionOf(name, at, grouping)
  })

export const isOfTime = (name: string): boolean => name === 'hourOfDay' || name === 'weekday'

const selectConversations = (db: Db, org: OrgId, { selection }: SumRequest, times: Times) =>
  whereSelected(db.selectFrom('conversations').where(within(sql`conversations.started_at`, times)), org, selection)

/** Selects the conversations as `s`, with the columns `id`, `at`, `k1`, and `k2`. */
const keyedConversations = (db: Db, org: OrgId, request: SumRequest, times: Times) => {
  const [k1, k2] = keysOf({ ...request, org }, sql`conversations.started_at`)
  return selectConversations(db, org, request, times).select([
    'conversations.id',
    'conversations.started_at as at',
    sql`${k1}`.as('k1'),
    sql`${k2}`.as('k2'),
  ])
}

type OfConversations = Extract<Measured, { kind: 'volume' | 'duration' | 'delay' | 'signal' | 'sound' }>

const measuredValue = (measure: OfConversations): RawBuilder<unknown> => {
  switch (measure.kind) {
    case 'volume':
      return sql`NULL::float8`
    case 'duration':
      return sql`conversations.duration_seconds::float8`
    case 'delay':
      return sql`extract(epoch FROM conversations.created_at - conversations.started_at)::float8`
    case 'signal':
      return measureAt('signal', signalPaths[measure.signal])
    case 'sound':
      return measureAt('sound', soundPaths[measure.name])
  }
}

const conversationRows = (db: Db, org: OrgId, measure: OfConversations, request: SumRequest, times: Times) => {
  const conversations = keyedConversations(db, org, request, times).select(sql`${measuredValue(measure)}`.as('value'))
  if (measure.kind === 'volume') return sql`SELECT s.k1, s.k2, s.at, false AS hit, s.value FROM (${conversations}) s`
  // Without OFFSET, the planner would extract the value from the measures again each time it is used.
  return sql`SELECT s.k1, s.k2, s.at, false AS hit, s.value FROM (${conversations} OFFSET 0) s WHERE s.value IS NOT NULL`
}

const metricRows = (db: Db, org: OrgId, key: string, request: SumRequest, times: Times) => sql`
  SELECT * FROM (
    SELECT s.k1, s.k2, s.at, false AS hit, ${metricValue} AS value
    FROM (${keyedConversations(db, org, request, times)}) s
    JOIN customer_metrics m ON m.organization_id = ${org} AND m.conversation_id = s.id AND m.key = ${key}) v
  WHERE v.value IS NOT NULL`

const monitorOf = (id: string): RawBuilder<string> => sql<string>`${id}::uuid`

/** Selects one row for each conversation, from the newest version that has a result. */
const newestResults = (org: OrgId, monitor: RawBuilder<string>, times: Times) => sql`
  SELECT DISTINCT ON (r.call_started_at, r.conversation_id) r.conversation_id, r.call_started_at, r.result, r.score
  FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ${monitor} AND ${within(sql`r.call_started_at`, times)}
  ORDER BY r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC`

/**
 * Selects one row for each conversation with categories in its newest result. An index contains them, so results are
 * not read, and newer results without categories are looked up.
 */
const newestCategories = (org: OrgId, monitorId: string, times: Times) => sql`
  SELECT r.conversation_id, r.call_started_at, r.categories FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}::uuid AND r.categories IS NOT NULL
    AND ${within(sql`r.call_started_at`, times)}
    AND NOT EXISTS (
      SELECT 1 FROM monitor_results b
      WHERE b.organization_id = ${org} AND b.monitor_id = ${monitorId}::uuid AND b.call_started_at = r.call_started_at
        AND b.conversation_id = r.conversation_id AND b.monitor_version > r.monitor_version)`

/** Selects one row for each conversation, with the fields of the newest version that has a result. */
const newestFields = (org: OrgId, monitorId: string, field: string, times: Times) => sql`
  SELECT f.conversation_id, f.call_started_at, CASE jsonb_typeof(f.value) WHEN 'number' THEN f.value::float8
    WHEN 'boolean' THEN (f.value = 'true'::jsonb)::integer::float8 END AS value
  FROM (
    SELECT DISTINCT ON (r.call_started_at, r.conversation_id) r.conversation_id, r.call_started_at,
      r.fields -> ${field}::text AS value
    FROM monitor_results r
    WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}::uuid AND ${within(sql`r.call_started_at`, times)}
    ORDER BY r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC) f`

/** Matches the results of one judge, or of all. */
const ofJudges = (org: OrgId, monitorId: string | undefined) => sql`
  SELECT m.id FROM monitors m WHERE m.organization_id = ${org} AND m.deleted_at IS NULL
    ${monitorId === undefined ? sql`` : sql`AND m.id = ${monitorId}::uuid`}`

/** Selects all results of one judge, or of all, with their costs or response times. */
const judgedResults = (
  org: OrgId,
  { kind, monitorId }: Extract<Measured, { kind: 'cost' | 'latency' }>,
  times: Times,
) => sql`
  SELECT r.conversation_id, r.call_started_at, ${valueOfJudge[kind]} AS value FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ANY(ARRAY(${ofJudges(org, monitorId)}))
    AND ${within(sql`r.call_started_at`, times)} AND ${valueOfJudge[kind]} IS NOT NULL`

type OfResults = Extract<Measured, { kind: 'rate' | 'score' | 'cost' | 'latency' | 'category' | 'field' }>

const readResults = (org: OrgId, measure: OfResults, times: Times) => {
  switch (measure.kind) {
    case 'rate':
      return {
        results: newestResults(org, monitorOf(measure.monitorId), times),
        hit: sql`n.result = ${codes.affected}`,
        value: sql`NULL::float8`,
        counts: sql`n.result IS NOT NULL`,
      }
    case 'score':
      return {
        results: newestResults(org, monitorOf(measure.monitorId), times),
        hit: sql`false`,
        value: sql`n.score`,
        counts: sql`n.score IS NOT NULL`,
      }
    case 'cost':
    case 'latency':
      return {
        results: judgedResults(org, measure, times),
        hit: sql`false`,
        value: sql`n.value`,
        counts: sql`true`,
      }
    case 'category':
      return {
        results: newestCategories(org, measure.monitorId, times),
        hit: sql`${measure.category ?? ''}::text = ANY(n.categories)`,
        value: sql`NULL::float8`,
        counts: measure.category === notApplicable ? sql`true` : isApplicable,
      }
    case 'field':
      return {
        results: newestFields(org, measure.monitorId, measure.field, times),
        hit: sql`false`,
        value: sql`n.value`,
        counts: sql`n.value IS NOT NULL`,
      }
  }
}

const isApplicable = sql`${notApplicable}::text <> ALL(n.categories)`

/** Joins results with their conversations. Joining on the start as well lets both sides be read in index order. */
const joinedWith = (conversations: RawBuilder<unknown> | ReturnType<typeof keyedConversations>) => sql`
  JOIN (${conversations}) s ON s.at = n.call_started_at AND s.id = n.conversation_id`

/** Selects results. Only reads conversations if the filter or a group needs them. */
const resultRows = (
  db: Db,
  org: OrgId,
  measure: OfResults,
  request: SumRequest,
  times: Times,
  valueInstead?: RawBuilder<unknown>,
) => {
  const { results, hit, counts, ...read } = readResults(org, measure, times)
  const value = valueInstead ?? read.value
  if (Object.keys(request.selection).length === 0 && request.groupBy.every(isOfTime)) {
    const [k1, k2] = keysOf({ ...request, org }, sql`n.call_started_at`)
    return sql`SELECT ${k1} AS k1, ${k2} AS k2, n.call_started_at AS at, ${hit} AS hit, ${value} AS value
      FROM (${results}) n WHERE ${counts}`
  }
  return sql`SELECT s.k1, s.k2, s.at, ${hit} AS hit, ${value} AS value
    FROM (${results}) n ${joinedWith(keyedConversations(db, org, request, times))} WHERE ${counts}`
}

/** Selects a row for each category of each result, so that all categories are shares of the same results. */
const categoryRows = (
  db: Db,
  org: OrgId,
  { monitorId, categories }: { monitorId: string; categories: string[] },
  request: SumRequest,
  times: Times,
) => {
  const groupBy = request.groupBy.slice(1)
  const measure = { kind: 'category', monitorId } as const
  const rows = resultRows(db, org, measure, { ...request, groupBy }, times, sql`n.categories`)
  return sql`
    SELECT k.category AS k1, v.k1 AS k2, v.at, k.category = ANY(v.value) AS hit, NULL::float8 AS value
    FROM (${rows}) v CROSS JOIN unnest(${categories}::text[]) AS k(category)`
}

/** Selects judgments of completed reviews, compared with the result of the version that was judged. */
const agreementRows = (db: Db, org: OrgId, monitorId: string, request: SumRequest, times: Times) => sql`
  SELECT s.k1, s.k2, s.at, (j.correct_result = 'affected') = (m.result = ${codes.affected}) AS hit, NULL::float8 AS value
  FROM review_judgments j
  JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed'
  JOIN (${keyedConversations(db, org, request, times)}) s ON s.id = r.conversation_id
  JOIN monitor_results m ON m.organization_id = ${org} AND m.monitor_id = ${monitorId}::uuid
    AND m.call_started_at = s.at AND m.conversation_id = s.id AND m.monitor_version = j.monitor_version
    AND m.result IS NOT NULL
  WHERE j.organization_id = ${org} AND j.monitor_id = ${monitorId}::uuid AND NOT j.superseded
    AND j.correct_result <> 'unsure'`

/** Selects rows of `k1`, `k2`, `at`, `hit`, and `value`. */
const rowsOf = (db: Db, org: OrgId, request: SumRequest, times: Times): RawBuilder<unknown> => {
  const { measure } = request
  switch (measure.kind) {
    case 'rate':
    case 'score':
    case 'cost':
    case 'latency':
    case 'field':
      return resultRows(db, org, measure, request, times)
    case 'category': {
      const { monitorId, categories } = measure
      if (!categories) return resultRows(db, org, measure, request, times)
      return categoryRows(db, org, { monitorId, categories }, request, times)
    }
    case 'metric':
      return metricRows(db, org, measure.key, request, times)
    case 'agreement':
      return agreementRows(db, org, measure.monitorId, request, times)
    default:
      return conversationRows(db, org, measure, request, times)
  }
}

/** Selects the rows of several time ranges. Returns undefined if there are none. */
const rowsOfTimes = (
  ranges: SumRequest['ranges'],
  rowsWithin: (times: Times) => RawBuilder<unknown>,
): RawBuilder<unknown> | undefined => {
  const [only, ...others] = ranges
  if (!only) return undefined
  if (others.length === 0) return rowsWithin({ since: instant(only.since), until: instant(only.until) })
  const starts = ranges.map(({ since }) => since?.toISOString() ?? '-infinity')
  const ends = ranges.map(({ until }) => until?.toISOString() ?? 'infinity')
  const each = rowsWithin({ since: sql<Date>`g.since`, until: sql<Date>`g.until` })
  return sql`SELECT e.* FROM unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) AS g(since, until)
    CROSS JOIN LATERAL (${each}) e`
}

/** Selects the rows of all times that are not read from stored sums. */
const rowsOfRanges = (db: Db, org: OrgId, request: SumRequest): RawBuilder<unknown> | undefined =>
  rowsOfTimes(request.ranges, (times) => rowsOf(db, org, request, times))

/** The columns that sums are grouped by, as bits of `grain`. */
const grains: Record<string, number> = {
  agent: 4,
  version: 4,
  company: 2,
  channel: 1,
  direction: 1,
  agentIds: 4,
  agentVersionIds: 4,
  agentGroupIds: 4,
  companyIds: 2,
  channels: 1,
  directions: 1,
  hourOfDay: 0,
  weekday: 0,
}

/**
 * The columns that have sums stored by hour. All other combinations are only stored by day, with all columns together.
 */
const stored = new Set([0, 1, 2, 4])
const everything = 7

type GrainRequest = Pick<SumRequest, 'measure' | 'selection' | 'groupBy' | 'quantile'>

const grainOf = ({ selection, groupBy, quantile }: GrainRequest): number | undefined => {
  let grain = 0
  for (const name of [...Object.keys(selection), ...groupBy]) {
    const bits = grains[name]
    if (bits === undefined) return undefined
    grain |= bits
  }
  if (stored.has(grain)) return grain
  return quantile !== undefined || groupBy.some(isOfTime) ? undefined : everything
}

/** Measures without stored sums. */
const unstored = new Set<Measured['kind']>(['agreement', 'category', 'field'])

/** Returns the grain of the stored sums that answer a query, or undefined if none do. */
export const storedGrain = (request: GrainRequest): number | undefined =>
  unstored.has(request.measure.kind) ? undefined : grainOf(request)

/** Returns whether sums are stored by hour or by day for a measure with this filter and these groups. */
export const storedBy = (request: GrainRequest): 'hour' | 'day' | undefined => {
  const grain = storedGrain(request)
  if (grain === undefined) return undefined
  return grain === everything ? 'day' : 'hour'
}

const subjectsOf = (org: OrgId, measure: Measured): RawBuilder<unknown> => {
  switch (measure.kind) {
    case 'signal':
      return sql`ARRAY[${`signal:${measure.signal}`}::text]`
    case 'sound':
      return sql`ARRAY[${`sound:${measure.name}`}::text]`
    case 'metric':
      return sql`ARRAY[${`metric:${measure.key}`}::text]`
    case 'rate':
    case 'score':
      return sql`ARRAY[${`${measure.kind}:${measure.monitorId}`}::text]`
    case 'cost':
    case 'latency':
      return sql`ARRAY(SELECT ${`${measure.kind}:`}::text || m.id FROM (${ofJudges(org, measure.monitorId)}) m)`
    case 'volume':
    case 'duration':
    case 'delay':
      return sql`ARRAY[${measure.kind}::text]`
    default:
      throw new Error(`Sums of the measure ${measure.kind} are not stored.`)
  }
}

/** Lists the groups of stored sums that a filter selects. They have the columns of conversations, so filters apply. */
export const listGroups = async (db: Db, org: OrgId, request: SumRequest): Promise<NumberedGroup[]> => {
  const grain = grainOf(request) ?? 0
  if (grain === 0) return [{ number: 0, k1: '', k2: '' }]
  const [k1, k2] = request.groupBy.map((name) => (isOfTime(name) ? sql`''` : (columns[name] ?? sql`''`)))
  const groups = db.selectFrom(
    sql`(SELECT g.* FROM analytics_groups g WHERE g.organization_id = ${org} AND g.grain = ${sql.lit(grain)})`.as(
      'conversations',
    ),
  ) as unknown as SelectQueryBuilder<DB, 'conversations', object>
  return (await whereSelected(groups, org, request.selection)
    .select([
      sql.ref('conversations.number').as('number'),
      sql`(${k1 ?? sql`''`})::text`.as('k1'),
      sql`(${k2 ?? sql`''`})::text`.as('k2'),
    ])
    .execute()) as NumberedGroup[]
}

type DaysToRead = { first: Date; last: Date; whole: Date[] }

/** Lists the packed sums of days. */
export const listPackedDays = async (
  db: Db,
  org: OrgId,
  request: SumRequest,
  { first, last, whole }: DaysToRead,
): Promise<PackedDay[]> => {
  const isWhole = sql`d.day = ANY(${whole}::timestamptz[])`
  const steps =
    request.quantile === undefined
      ? sql`NULL::bytea AS "hourSteps", NULL::bytea AS "daySteps"`
      : sql`CASE WHEN ${isWhole} THEN NULL ELSE d.hour_steps END AS "hourSteps",
          CASE WHEN ${isWhole} THEN d.day_steps END AS "daySteps"`
  const { rows } = await sql<PackedDay>`
    SELECT d.day, d.hours, ${steps} FROM analytics_days d
    WHERE d.organization_id = ${org} AND d.subject = ANY(${subjectsOf(org, request.measure)})
      AND d.grain = ${sql.lit(grainOf(request) ?? 0)} AND d.day >= ${first}::timestamptz AND d.day <= ${last}::timestamptz
    ${sql.raw(plannedEachTime)}`.execute(db)
  return rows
}

/** Encodes the value as text that is never null: empty for null, otherwise `=` and the value. */
const encoded = (key: RawBuilder<unknown>) => sql`CASE WHEN ${key} IS NULL THEN '' ELSE '=' || (${key})::text END`
const encode = (value: string | null | undefined): string => (value === null ? '' : `=${value ?? ''}`)
const decode = (text: string): string | null => (text === '' ? null : text.slice(1))

type Row = Sums & { k1: string | null; k2: string; period: number; groups: number }

const intervalOf = ({ bounds }: SumRequest): RawBuilder<unknown> =>
  bounds === undefined ? sql`0` : sql`width_bucket(v.at, ${bounds}::timestamptz[]) - 1`

/** Selects counts and sums of rows by group, interval, and rounded value. */
const cellsOf = (rows: RawBuilder<unknown>, request: SumRequest): RawBuilder<unknown> => sql`
  SELECT v.k1, v.k2, ${intervalOf(request)} AS period,
    ${request.quantile === undefined ? sql`NULL::smallint` : stepOf(sql`v.value`)} AS step, count(*) AS count,
    count(*) FILTER (WHERE v.hit) AS hits, coalesce(sum(${limited(sql`v.value`)}), 0) AS sum,
    coalesce(sum(${limitedSquare(sql`v.value`)}), 0) AS squares
  FROM (${rows}) v GROUP BY v.k1, v.k2, period, step`

/**
 * Sums rows by group, and by group and period, for the largest groups and for all others together. There can be any
 * number of groups, unlike in stored sums, so the database chooses the largest.
 */
export const sumRows = async (
  db: Db,
  org: OrgId,
  request: SumRequest,
): Promise<{ groups: number; sums: GroupSums[] }> => {
  const { groupBy, bounds, quantile = null, show } = request
  const rowsToRead = rowsOfRanges(db, org, request)
  if (!rowsToRead) return { groups: 0, sums: [] }
  const shown =
    'keys' in show
      ? sql`SELECT * FROM unnest(${show.keys.map(([k1]) => encode(k1))}::text[], ${show.keys.map(([, k2]) => encode(k2))}::text[]) AS g(k1, k2)`
      : sql`SELECT t.k1, t.k2 FROM totals t ORDER BY t.count DESC, t.k1, t.k2 LIMIT ${show.most}`
  const sets = bounds === undefined ? sql`(k1, k2, step)` : sql`(k1, k2, step), (k1, k2, period, step)`
  const rank = sql`ceil(${quantile}::float8 * w.count)`
  const spread = sql`${z95}::float8 * sqrt(${quantile}::float8 * (1 - ${quantile}::float8) * w.count)`
  const low = sql`floor(${quantile}::float8 * w.count - ${spread})`
  const high = sql`ceil(${quantile}::float8 * w.count + ${spread}) + 1`
  const { rows } = await sql<Row>`
    WITH summed_rows AS MATERIALIZED (
      ${cellsOf(rowsToRead, request)}
    ), coded AS (
      SELECT ${encoded(sql`p.k1`)} AS k1, ${encoded(sql`p.k2`)} AS k2, p.period, p.step, p.count, p.hits, p.sum, p.squares
      FROM summed_rows p
    ), totals AS (
      SELECT c.k1, c.k2, sum(c.count) AS count FROM coded c GROUP BY c.k1, c.k2
    ), shown AS MATERIALIZED (${shown}), cells AS (
      SELECT g.k1, g.k2, c.period, c.step, c.count, c.hits, c.sum, c.squares
      FROM coded c LEFT JOIN shown g ON g.k1 = c.k1 AND g.k2 = c.k2
    ), summed AS (
      SELECT k1, k2, ${bounds === undefined ? sql`-1` : sql`CASE WHEN grouping(period) = 1 THEN -1 ELSE period END`} AS period,
        step, sum(count) AS count, sum(hits) AS hits, sum(sum) AS sum, sum(squares) AS squares
      FROM cells GROUP BY GROUPING SETS (${sets})
    ), ranked AS (
      SELECT s.k1, s.k2, s.period, s.step, s.hits, s.sum, s.squares,
        sum(s.count) OVER (PARTITION BY s.k1, s.k2, s.period ORDER BY s.step) AS upto,
        sum(s.count) OVER (PARTITION BY s.k1, s.k2, s.period) AS count
      FROM summed s
    )
    SELECT w.k1, w.k2, w.period, max(w.count) AS count, sum(w.hits) AS hits, sum(w.sum) AS sum, sum(w.squares) AS squares,
      min(w.step) FILTER (WHERE w.upto >= ${rank}) AS step,
      min(w.step) FILTER (WHERE ${low} >= 1 AND w.upto >= ${low}) AS "lowStep",
      min(w.step) FILTER (WHERE ${high} <= w.count AND w.upto >= ${high}) AS "highStep",
      (SELECT count(*) FROM totals) AS groups
    FROM ranked w GROUP BY w.k1, w.k2, w.period ${sql.raw(plannedEachTime)}`.execute(db)
  const sums = rows.map(({ k1, k2, period: at, groups: _, ...sum }) => ({
    ...sum,
    key: k1 === null ? undefined : [decode(k1), decode(k2)].slice(0, groupBy.length),
    period: at < 0 ? undefined : at,
  }))
  return { groups: rows[0]?.groups ?? 0, sums }
}

/** Lists the cells of the times that stored sums do not cover. */
export const listCells = async (db: Db, org: OrgId, request: SumRequest): Promise<Cell[]> => {
  const rowsToRead = rowsOfRanges(db, org, request)
  if (!rowsToRead) return []
  const { rows } = await sql<Cell>`
    SELECT p.k1::text AS k1, p.k2::text AS k2, p.period AS interval, p.step, p.count, p.hits, p.sum, p.squares
    FROM (${cellsOf(rowsToRead, request)}) p ${sql.raw(plannedEachTime)}`.execute(db)
  return rows
}

/** Counts of the newest results of a monitor, and sums of their scores. */
export type ResultCounts = {
  monitorId: string
  results: number
  affected: number
  scores: number
  sum: number
  squares: number
}

/** Counts the results of several monitors, in the times that stored sums do not cover, in one statement. */
export const listResultCounts = async (
  db: Db,
  org: OrgId,
  request: SumRequest,
  monitorIds: string[],
): Promise<ResultCounts[]> => {
  const isPlain = Object.keys(request.selection).length === 0
  const rowsToRead = rowsOfTimes(request.ranges, (times) => {
    const conversations = isPlain ? sql`` : joinedWith(keyedConversations(db, org, request, times))
    return sql`SELECT n.result, n.score FROM (${newestResults(org, sql<string>`m.id`, times)}) n ${conversations}`
  })
  if (!rowsToRead || monitorIds.length === 0) return []
  const { rows } = await sql<ResultCounts>`
    SELECT m.id AS "monitorId", c.* FROM unnest(${monitorIds}::uuid[]) AS m(id) CROSS JOIN LATERAL (
      SELECT count(v.result) AS results, count(*) FILTER (WHERE v.result = ${codes.affected}) AS affected,
        count(v.score) AS scores, coalesce(sum(${limited(sql`v.score`)}), 0) AS sum,
        coalesce(sum(${limitedSquare(sql`v.score`)}), 0) AS squares
      FROM (${rowsToRead}) v) c ${sql.raw(plannedEachTime)}`.execute(db)
  return rows
}

/** Returns whether a conversation is selected by both sides, each in its own period. */
export const haveCommon = async (
  db: Db,
  org: OrgId,
  sides: { selection: Resolved; since: Date | undefined; until: Date | undefined }[],
): Promise<boolean> => {
  const query = sides.reduce(
    (selected, { selection, since, until }) =>
      whereSelected(
        selected.where(within(sql`conversations.started_at`, { since: instant(since), until: instant(until) })),
        org,
        selection,
      ),
    db.selectFrom('conversations').select('conversations.id'),
  )
  return (await query.limit(1).execute()).length > 0
}

/** Lists the categories of a monitor's results, most frequent first. */
export const listFoundCategories = async (
  db: Db,
  org: OrgId,
  monitorId: string,
  times: { since: Date | undefined; until: Date | undefined },
  limit: number,
): Promise<string[]> => {
  const found = newestCategories(org, monitorId, { since: instant(times.since), until: instant(times.until) })
  const { rows } = await sql<{ category: string }>`
    SELECT c.category FROM (${found}) n CROSS JOIN unnest(n.categories) AS c(category)
    GROUP BY c.category ORDER BY count(*) DESC, c.category LIMIT ${limit} ${sql.raw(plannedEachTime)}`.execute(db)
  return rows.map(({ category }) => category)
}

const timedOut = '57014'
/** The maximum time for a chart. A board has many charts, and everyone waits for the slowest. */
const longestMs = 10_000

const tooLong = (path: string, ms: number) =>
  invalid(path, `selects more than ${ms / 1_000} seconds can count; choose a shorter period or fewer conditions`)

/**
 * Runs statements that all see the same data, each within a time limit. `pathNow` returns the path that the error
 * refers to if a statement takes longer.
 */
export const readInSnapshot = async <T>(
  replica: Pick<Replica, 'read'>,
  run: (db: Db) => Promise<T>,
  pathNow = () => 'filter',
): Promise<T> => {
  const read = (on: Db) =>
    on
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (trx) => {
        await sql`SET LOCAL statement_timeout = ${sql.lit(longestMs)}`.execute(trx)
        return run(trx)
      })
  try {
    return await replica.read(read)
  } catch (error) {
    if ((error as { code?: unknown }).code !== timedOut) throw error
    throw tooLong(pathNow(), longestMs)
  }
}
