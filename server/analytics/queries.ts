import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { metricValue, type Selection, whereSelected } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { plannedEachTime } from '../platform/db/naming-client.ts'
import type { Replica } from '../platform/db/replica.ts'
import { codes } from '../platform/db/result-codes.ts'
import { stepOf } from '../platform/db/rounded-values.ts'
import type { DB } from '../platform/db/tables.ts'
import { invalid } from '../platform/errors.ts'
import { type SignalName, signalPaths } from '../transcripts/signals/paths.ts'

/** Names what is measured, whatever is computed from it. */
export type Measured =
  | { kind: 'volume' | 'duration' | 'delay' }
  | { kind: 'signal'; signal: SignalName }
  | { kind: 'metric'; key: string }
  | { kind: 'rate'; monitorId: string }
  | { kind: 'score'; monitorId: string }
  | { kind: 'agreement'; monitorId: string }
  | { kind: 'cost'; monitorId?: string }

/** Contains the sums of one group in one period. */
export type Sums = {
  /** How many have a value. */
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

type Bound = RawBuilder<Date> | undefined
type Times = { since: Bound; until: Bound }

type Range = { since: Date | undefined; until: Date | undefined }

/** Which hours are read from stored sums, and which times from conversations and results. */
export type Sources = { hours: (Range & { except: Date[] }) | undefined; ranges: Range[] }

type Request = {
  measure: Measured
  /** Without times. */
  selection: Selection
  groupBy: string[]
  timezone: string
  sources: Sources
  /** The starts of the periods, and the end of the last one. Undefined without periods. */
  bounds: Date[] | undefined
  quantile: number | undefined
  /** The groups to show, or how many of the largest. */
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

type Grouping = Pick<Request, 'groupBy' | 'timezone'>

const dimensionOf = (name: string, at: RawBuilder<unknown>, timezone: string): RawBuilder<unknown> => {
  if (name === 'hourOfDay') return sql`extract(hour FROM ${at} AT TIME ZONE ${timezone}::text)::integer`
  if (name === 'weekday') return sql`extract(isodow FROM ${at} AT TIME ZONE ${timezone}::text)::integer`
  return columns[name] ?? metadataOf(name.slice('metadata:'.length))
}

/** Two columns, `k1` and `k2`. */
const keysOf = ({ groupBy, timezone }: Grouping, at: RawBuilder<unknown>) =>
  [0, 1].map((index) => {
    const name = groupBy[index]
    return name === undefined ? sql`''` : dimensionOf(name, at, timezone)
  })

const isOfTime = (name: string): boolean => name === 'hourOfDay' || name === 'weekday'

const selectConversations = (db: Db, org: OrgId, { selection }: Request, times: Times) =>
  whereSelected(db.selectFrom('conversations').where(within(sql`conversations.started_at`, times)), org, selection)

/** The conversations as `s`, with the columns `id`, `at`, `k1`, and `k2`. */
const keyedConversations = (db: Db, org: OrgId, request: Request, times: Times) => {
  const [k1, k2] = keysOf(request, sql`conversations.started_at`)
  return selectConversations(db, org, request, times).select([
    'conversations.id',
    'conversations.started_at as at',
    sql`${k1}`.as('k1'),
    sql`${k2}`.as('k2'),
  ])
}

type OfConversations = Extract<Measured, { kind: 'volume' | 'duration' | 'delay' | 'signal' }>

const measuredValue = (measure: OfConversations): RawBuilder<unknown> => {
  switch (measure.kind) {
    case 'volume':
      return sql`NULL::float8`
    case 'duration':
      return sql`conversations.duration_seconds::float8`
    case 'delay':
      return sql`extract(epoch FROM conversations.created_at - conversations.started_at)::float8`
    case 'signal':
      return sql`(conversations.signals #>> ${signalPaths[measure.signal]}::text[])::float8`
  }
}

const conversationRows = (db: Db, org: OrgId, measure: OfConversations, request: Request, times: Times) => {
  const conversations = keyedConversations(db, org, request, times).select(sql`${measuredValue(measure)}`.as('value'))
  if (measure.kind === 'volume') return sql`SELECT s.k1, s.k2, s.at, false AS hit, s.value FROM (${conversations}) s`
  // OFFSET keeps the planner from reading the value out of the signals again for each of its uses.
  return sql`SELECT s.k1, s.k2, s.at, false AS hit, s.value FROM (${conversations} OFFSET 0) s WHERE s.value IS NOT NULL`
}

const metricRows = (db: Db, org: OrgId, key: string, request: Request, times: Times) => sql`
  SELECT * FROM (
    SELECT s.k1, s.k2, s.at, false AS hit, ${metricValue} AS value
    FROM (${keyedConversations(db, org, request, times)}) s
    JOIN customer_metrics m ON m.organization_id = ${org} AND m.conversation_id = s.id AND m.key = ${key}) v
  WHERE v.value IS NOT NULL`

/** One row for each conversation, of the newest version that has a result. */
const newestResults = (org: OrgId, monitorId: string, times: Times) => sql`
  SELECT DISTINCT ON (r.call_started_at, r.conversation_id) r.conversation_id, r.call_started_at, r.result, r.score
  FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}::uuid AND ${within(sql`r.call_started_at`, times)}
  ORDER BY r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC`

/** One monitor, or all. */
const costing = (org: OrgId, monitorId: string | undefined) => sql`
  SELECT m.id FROM monitors m WHERE m.organization_id = ${org} AND m.deleted_at IS NULL
    ${monitorId === undefined ? sql`` : sql`AND m.id = ${monitorId}::uuid`}`

/** All results of one judge, or of all: each of them was paid for. */
const paidResults = (org: OrgId, monitorId: string | undefined, times: Times) => sql`
  SELECT r.conversation_id, r.call_started_at, r.cost FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ANY(ARRAY(${costing(org, monitorId)}))
    AND ${within(sql`r.call_started_at`, times)} AND r.cost IS NOT NULL`

type OfResults = Extract<Measured, { kind: 'rate' | 'score' | 'cost' }>

const readResults = (org: OrgId, measure: OfResults, times: Times) => {
  switch (measure.kind) {
    case 'rate':
      return {
        results: newestResults(org, measure.monitorId, times),
        hit: sql`n.result = ${codes.affected}`,
        value: sql`NULL::float8`,
        counts: sql`n.result IS NOT NULL`,
      }
    case 'score':
      return {
        results: newestResults(org, measure.monitorId, times),
        hit: sql`false`,
        value: sql`n.score`,
        counts: sql`n.score IS NOT NULL`,
      }
    case 'cost':
      return {
        results: paidResults(org, measure.monitorId, times),
        hit: sql`false`,
        value: sql`n.cost`,
        counts: sql`true`,
      }
  }
}

/** Only reads conversations if the filter or a group needs them. */
const resultRows = (db: Db, org: OrgId, measure: OfResults, request: Request, times: Times) => {
  const { results, hit, value, counts } = readResults(org, measure, times)
  if (Object.keys(request.selection).length === 0 && request.groupBy.every(isOfTime)) {
    const [k1, k2] = keysOf(request, sql`n.call_started_at`)
    return sql`SELECT ${k1} AS k1, ${k2} AS k2, n.call_started_at AS at, ${hit} AS hit, ${value} AS value
      FROM (${results}) n WHERE ${counts}`
  }
  // A result stores when its conversation started. Joining on it as well lets both sides be read in index order.
  return sql`SELECT s.k1, s.k2, s.at, ${hit} AS hit, ${value} AS value
    FROM (${results}) n JOIN (${keyedConversations(db, org, request, times)}) s
      ON s.at = n.call_started_at AND s.id = n.conversation_id
    WHERE ${counts}`
}

/** Judgments of completed reviews, compared with the result of the version that was judged. */
const agreementRows = (db: Db, org: OrgId, monitorId: string, request: Request, times: Times) => sql`
  SELECT s.k1, s.k2, s.at, (j.correct_result = 'affected') = (m.result = ${codes.affected}) AS hit, NULL::float8 AS value
  FROM review_judgments j
  JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed'
  JOIN (${keyedConversations(db, org, request, times)}) s ON s.id = r.conversation_id
  JOIN monitor_results m ON m.organization_id = ${org} AND m.monitor_id = ${monitorId}::uuid
    AND m.call_started_at = s.at AND m.conversation_id = s.id AND m.monitor_version = j.monitor_version
    AND m.result IS NOT NULL
  WHERE j.organization_id = ${org} AND j.monitor_id = ${monitorId}::uuid AND NOT j.superseded
    AND j.correct_result <> 'unsure'`

/** Rows of `k1`, `k2`, `at`, `hit`, and `value`. */
const rowsOf = (db: Db, org: OrgId, request: Request, times: Times): RawBuilder<unknown> => {
  const { measure } = request
  switch (measure.kind) {
    case 'rate':
    case 'score':
    case 'cost':
      return resultRows(db, org, measure, request, times)
    case 'metric':
      return metricRows(db, org, measure.key, request, times)
    case 'agreement':
      return agreementRows(db, org, measure.monitorId, request, times)
    default:
      return conversationRows(db, org, measure, request, times)
  }
}

/** Rows of all times that are not read from stored sums. */
const rowsOfRanges = (db: Db, org: OrgId, request: Request): RawBuilder<unknown> | undefined => {
  const { ranges } = request.sources
  const [only, ...others] = ranges
  if (!only) return undefined
  if (others.length === 0) return rowsOf(db, org, request, { since: instant(only.since), until: instant(only.until) })
  const starts = ranges.map(({ since }) => since?.toISOString() ?? '-infinity')
  const ends = ranges.map(({ until }) => until?.toISOString() ?? 'infinity')
  const each = rowsOf(db, org, request, { since: sql<Date>`g.since`, until: sql<Date>`g.until` })
  return sql`SELECT e.* FROM unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) AS g(since, until)
    CROSS JOIN LATERAL (${each}) e`
}

/** What sums are grouped by, as bits of `grain`. */
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

/** Only counts are stored for combinations of these. */
const stored = new Set([0, 1, 2, 4])
const everything = 7

const grainOf = ({ measure, selection, groupBy }: Pick<Request, 'measure' | 'selection' | 'groupBy'>) => {
  let grain = 0
  for (const name of [...Object.keys(selection), ...groupBy]) {
    const bits = grains[name]
    if (bits === undefined) return undefined
    grain |= bits
  }
  if (stored.has(grain)) return grain
  return measure.kind === 'volume' || measure.kind === 'rate' ? everything : undefined
}

/** Whether sums are stored for a measure with this filter and these groups. */
export const isStored = (request: Pick<Request, 'measure' | 'selection' | 'groupBy'>): boolean =>
  request.measure.kind !== 'agreement' && grainOf(request) !== undefined

const subjectsOf = (org: OrgId, measure: Measured): RawBuilder<unknown> => {
  switch (measure.kind) {
    case 'signal':
      return sql`ARRAY[${`signal:${measure.signal}`}::text]`
    case 'metric':
      return sql`ARRAY[${`metric:${measure.key}`}::text]`
    case 'rate':
    case 'score':
      return sql`ARRAY[${`${measure.kind}:${measure.monitorId}`}::text]`
    case 'cost':
      return sql`ARRAY(SELECT 'cost:' || m.id FROM (${costing(org, measure.monitorId)}) m)`
    default:
      return sql`ARRAY[${measure.kind}::text]`
  }
}

const summed = ['count', 'hits', 'sum', 'squares', 'steps', 'counts']

/** The stored sums as `v`, with `k1`, `k2`, and `at`. They have the columns of conversations, so filters apply. */
const storedSums = (db: Db, org: OrgId, request: Request, { since, until, except }: Range & { except: Date[] }) => {
  const [k1, k2] = keysOf(request, sql`conversations.started_at`)
  const times = within(sql`h.hour`, { since: instant(since), until: instant(until) })
  const rows = db.selectFrom(
    sql`(
      SELECT h.*, h.hour AS started_at FROM analytics_hours h
      WHERE h.organization_id = ${org} AND h.subject = ANY(${subjectsOf(org, request.measure)})
        AND h.grain = ${sql.lit(grainOf(request) ?? 0)} AND ${times}
        ${except.length > 0 ? sql`AND h.hour <> ALL(${except}::timestamptz[])` : sql``})`.as('conversations'),
  ) as unknown as SelectQueryBuilder<DB, 'conversations', object>
  return whereSelected(rows, org, request.selection).select([
    sql`${k1}`.as('k1'),
    sql`${k2}`.as('k2'),
    'conversations.started_at as at',
    ...summed.map((name) => sql.ref(`conversations.${name}`).as(name)),
  ])
}

/** The 0.975 quantile of the normal distribution. */
const z = 1.959963984540054

/** Encodes the value as text that is never null: empty for null, otherwise `=` and the value. */
const encoded = (key: RawBuilder<unknown>) => sql`CASE WHEN ${key} IS NULL THEN '' ELSE '=' || (${key})::text END`
const encode = (value: string | null | undefined): string => (value === null ? '' : `=${value ?? ''}`)
const decode = (text: string): string | null => (text === '' ? null : text.slice(1))

type Row = Sums & { k1: string | null; k2: string; period: number; groups: number }

export type GroupSums = Sums & {
  key: Key | undefined
  /** Undefined for the sums of all periods. */
  period: number | undefined
}

/**
 * Sums a measure by group and by group and period, of the largest groups and of all others together. Groups and periods
 * without a value are left out. The interval of a percentile needs no assumption about the values: it is between two of
 * them, whose ranks are so far apart that the percentile is between them in 95 of 100 samples.
 */
export const sumMeasure = async (
  db: Db,
  org: OrgId,
  request: Request,
): Promise<{ groups: number; sums: GroupSums[] }> => {
  const { groupBy, bounds, quantile = null, show, sources } = request
  const period = bounds === undefined ? sql`0` : sql`width_bucket(v.at, ${bounds}::timestamptz[]) - 1`
  const summedSources: RawBuilder<unknown>[] = []
  const rowsToRead = rowsOfRanges(db, org, request)
  if (rowsToRead) {
    const step = quantile === null ? sql`NULL::smallint` : stepOf(sql`v.value`)
    summedSources.push(sql`
      SELECT v.k1, v.k2, ${period} AS period, ${step} AS step, count(*) AS count,
        count(*) FILTER (WHERE v.hit) AS hits, coalesce(sum(v.value), 0) AS sum,
        coalesce(sum(v.value * v.value), 0) AS squares
      FROM (${rowsToRead}) v GROUP BY v.k1, v.k2, period, step`)
  }
  if (sources.hours) {
    const sums = storedSums(db, org, request, sources.hours)
    summedSources.push(
      quantile === null
        ? sql`
      SELECT v.k1, v.k2, ${period} AS period, NULL::smallint AS step, sum(v.count) AS count, sum(v.hits) AS hits,
        sum(v.sum) AS sum, sum(v.squares) AS squares
      FROM (${sums}) v GROUP BY v.k1, v.k2, period`
        : sql`
      SELECT v.k1, v.k2, ${period} AS period, u.step, sum(u.count) AS count, 0 AS hits, 0 AS sum, 0 AS squares
      FROM (${sums}) v CROSS JOIN LATERAL unnest(v.steps, v.counts) u(step, count) GROUP BY v.k1, v.k2, period, u.step`,
    )
  }
  const shown =
    'keys' in show
      ? sql`SELECT * FROM unnest(${show.keys.map(([k1]) => encode(k1))}::text[], ${show.keys.map(([, k2]) => encode(k2))}::text[]) AS g(k1, k2)`
      : sql`SELECT t.k1, t.k2 FROM totals t ORDER BY t.count DESC, t.k1, t.k2 LIMIT ${show.most}`
  const sets = bounds === undefined ? sql`(k1, k2, step)` : sql`(k1, k2, step), (k1, k2, period, step)`
  const rank = sql`ceil(${quantile}::float8 * w.count)`
  const spread = sql`${z}::float8 * sqrt(${quantile}::float8 * (1 - ${quantile}::float8) * w.count)`
  const low = sql`floor(${quantile}::float8 * w.count - ${spread})`
  const high = sql`ceil(${quantile}::float8 * w.count + ${spread}) + 1`
  const { rows } = await sql<Row>`
    WITH sources_summed AS MATERIALIZED (
      ${sql.join(summedSources, sql` UNION ALL `)}
    ), coded AS (
      SELECT ${encoded(sql`p.k1`)} AS k1, ${encoded(sql`p.k2`)} AS k2, p.period, p.step, p.count, p.hits, p.sum, p.squares
      FROM sources_summed p
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

const timedOut = '57014'
/** A board has many charts, and everyone waits for the slowest. */
const longestMs = 10_000

/** Runs statements that all see the same data, within a time limit. */
export const readInSnapshot = async <T>(replica: Pick<Replica, 'read'>, run: (db: Db) => Promise<T>): Promise<T> => {
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
    throw invalid(
      'filter',
      `selects more than ${longestMs / 1_000} seconds can count; choose a shorter period or fewer conditions`,
    )
  }
}
