import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type Calendar, type CalendarWindow, listPeriodBounds } from '../platform/db/calendar.ts'
import type { Clause } from '../platform/db/clause.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { plannedEachTime } from '../platform/db/naming-client.ts'
import { boundsOfPeriod, type ZonedPeriod } from '../platform/db/periods.ts'
import { codes } from '../platform/db/result-codes.ts'
import type { DB } from '../platform/db/tables.ts'
import type { Page } from '../platform/http/paging.ts'
import type { Meaning, Similar } from '../platform/meanings.ts'

type MonitorCondition = { id: string; result: 'all' | 'affected' | 'not_affected' | 'unscored' }
type Ordering = 'gt' | 'gte' | 'lt' | 'lte'
type Operator = 'eq' | 'neq' | 'contains' | 'not_contains' | 'is_set' | 'is_not_set' | 'is_true' | 'is_false' | Ordering
type Condition = { key: string; op: Operator; value?: string }

/** A condition on a field of a monitor's result. `in` has several values, and every other comparison has one. */
type FieldCondition = {
  monitorId: string
  field: string
  op: Operator | 'in' | 'is_unsupported'
  value?: string
  values?: string[]
}

/** A condition on a signal or a measure of sound. */
type MeasureCondition = { name: string; op: Ordering | 'eq' | 'neq'; value: number }

/** A condition on the meaning of conversations. Without a minimum, the default applies. */
export type Likeness = Meaning & { minimumSimilarity?: number }

/**
 * A filter, or a filter nested in another one. `Alike` is either the condition on the meaning or, once it is resolved,
 * the conversations that satisfy it.
 */
export type Part<Alike = Likeness> = {
  agentIds?: string[]
  agentVersionIds?: string[]
  agentGroupIds?: string[]
  companyIds?: string[]
  channels?: ('call' | 'chat' | 'voicemail')[]
  directions?: ('inbound' | 'outbound')[]
  statuses?: ('in_progress' | 'completed' | 'failed')[]
  since?: string
  until?: string
  /** This is set instead of both times. */
  period?: ZonedPeriod
  minDurationSeconds?: number
  maxDurationSeconds?: number
  customerId?: string
  text?: string
  metadata?: Condition[]
  metrics?: Condition[]
  signals?: MeasureCondition[]
  sound?: MeasureCondition[]
  /** Either all results are `all`, or none are. */
  monitors?: MonitorCondition[]
  match?: 'all' | 'any'
  categories?: { monitorId: string; any: string[] }
  fields?: FieldCondition[]
  reviewStatus?: 'none' | 'pending' | 'in_progress' | 'completed'
  bucketId?: string
  conversationIds?: string[]
  findingIds?: string[]
  tags?: string[]
  topicIds?: string[]
  similarTo?: Alike
}

export type Exclusion<Alike = Likeness> = Part<Alike> & {
  /** At least one of these must match. */
  anyOf?: Part<Alike>[]
}

/** A filter that `parseFilter` has validated and converted to canonical form. Times are ISO 8601 in UTC. */
export type Selection<Alike = Likeness> = Exclusion<Alike> & {
  /** This must not match. */
  exclude?: Exclusion<Alike>
}

/** A filter that compares no meanings. It is ready for SQL as it is. */
export type Plain = Selection<never>

/** A filter that `resolve` has made ready for SQL, which can't compare meanings. */
export type Resolved = Selection<Found>
type ResolvedPart = Part<Found>
type Found = Pick<Similar, 'conversationId'>[]

/** A filter for the list, which can also filter by external ID. */
type Listed = Resolved & { externalId?: string }

/** The columns that conditions use. */
export const filtered = [
  'organization_id',
  'id',
  'agent_id',
  'agent_version_id',
  'company_id',
  'channel',
  'customer_id',
  'direction',
  'status',
  'started_at',
  'duration_seconds',
  'metadata',
  'signals',
  'sound',
  'review_status',
] as const

/** The format of numbers and times in both filters and metadata. PostgreSQL supports offsets below 16 hours. */
const decimal = '^-?[0-9]+(\\.[0-9]+)?$'
const timestamp =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-](0[0-9]|1[0-5]):[0-5][0-9]))?$'
/** Longer strings are neither numbers nor times. This also keeps numbers within PostgreSQL's range. */
const maxComparedLength = 500

/**
 * The formats of dates in fields. People often mention no year, no seconds, and no offset, and sometimes only a time of
 * day. A time without an offset is in UTC.
 */
const datedField =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?([Zz]|[+-](0[0-9]|1[0-5]):[0-5][0-9])?)?$'
const yearless = '^[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2})?$'
const timeOfDay = '^[0-9]{2}:[0-9]{2}$'

const isDecimal = (value: string): boolean => new RegExp(decimal).test(value)

const isTimestamp = (value: string, format = timestamp): boolean => {
  if (!new RegExp(format).test(value) || value.startsWith('0000')) return false
  const day = value.slice(0, 10)
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

const operators: Record<Ordering, Clause> = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }

/** Compares a time if the text has the format. */
const timeMatches = (text: RawBuilder<string>, comparison: Clause, format: string): Clause =>
  sql`CASE WHEN length(${text}) <= ${maxComparedLength} AND ${text} ~ ${format}
    THEN CASE WHEN pg_input_is_valid(${text}, 'timestamptz')
      THEN (${text})::timestamptz ${comparison} ELSE false END ELSE false END`

const ordering = (text: RawBuilder<string>, op: Ordering, value: string): Clause => {
  const operator = operators[op]
  // CASE guarantees that only strings with a valid format are cast.
  if (isDecimal(value)) {
    return sql`CASE WHEN length(${text}) <= ${maxComparedLength} AND ${text} ~ ${decimal}
      THEN (${text})::numeric ${operator} ${value}::numeric ELSE false END`
  }
  return isTimestamp(value) ? timeMatches(text, sql`${operator} ${value}::timestamptz`, timestamp) : sql`false`
}

/**
 * Returns a word in every combination of upper and lower case, starting with the original. The index only finds exact
 * values.
 */
const spellingsOf = (word: string): [string, ...string[]] => {
  const spellings = [...word].reduce(
    (begun, letter) => begun.flatMap((start) => [start + letter, start + letter.toUpperCase()]),
    [''],
  )
  return [word, ...spellings.slice(1)]
}

/** Selects metadata with this text under the key, in a form that the index supports. */
const holding = (key: string, text: string, ...others: string[]): Clause => {
  const typed: unknown[] = [text, ...others]
  if (text === 'true' || text === 'false') typed.push(text === 'true')
  const documents = typed.map((value) => JSON.stringify({ [key]: value }))
  // The document is built as a string, because JavaScript would round a number with many digits.
  if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) documents.push(`{${JSON.stringify(key)}:${text}}`)
  const contains = documents.map((document) => sql`conversations.metadata @> ${document}::jsonb`)
  return sql`(${sql.join(contains, sql` OR `)})`
}

/** Compares a string, which is null if the value is not a string. */
const textClause = (
  text: RawBuilder<string>,
  op: Exclude<Operator, 'is_set' | 'is_not_set'>,
  value: string,
): Clause => {
  const part = sql`strpos(lower(${text}), lower(${value}::text))`
  switch (op) {
    case 'eq':
      return sql`${text} = ${value}`
    case 'neq':
      return sql`${text} <> ${value}`
    case 'contains':
      return sql`${part} > 0`
    case 'not_contains':
      return sql`${part} = 0`
    case 'is_true':
      return sql`lower(${text}) = 'true'`
    case 'is_false':
      return sql`lower(${text}) = 'false'`
    default:
      return ordering(text, op, value)
  }
}

/**
 * Compares metadata with a condition. Missing keys and null only satisfy `is_not_set`. Objects and arrays count as set,
 * but satisfy no other operator.
 */
const metadataClause = ({ key, op, value = '' }: Condition): Clause => {
  const held = sql`jsonb_typeof(conversations.metadata -> ${key}::text)`
  if (op === 'is_set') return sql`${held} <> 'null'`
  if (op === 'is_not_set') return sql`coalesce(${held}, 'null') = 'null'`
  const text = sql<string>`(CASE WHEN ${held} IN ('string', 'number', 'boolean')
    THEN conversations.metadata ->> ${key}::text END)`
  const compared = textClause(text, op, value)
  if (op === 'eq') return sql`(${holding(key, value)} AND ${compared})`
  if (op === 'is_true') return sql`(${holding(key, ...spellingsOf('true'))} AND ${compared})`
  if (op === 'is_false') return sql`(${holding(key, ...spellingsOf('false'))} AND ${compared})`
  return compared
}

const metricClause = (org: OrgId, { key, op, value = '' }: Condition): Clause => {
  const metric = (also: Clause) => sql<boolean>`EXISTS (
    SELECT 1 FROM customer_metrics m
    WHERE m.organization_id = ${org} AND m.conversation_id = conversations.id AND m.key = ${key} AND ${also})`
  if (op === 'is_set') return metric(sql`true`)
  if (op === 'is_not_set') return sql`NOT ${metric(sql`true`)}`
  return metric(textClause(sql<string>`(m.value #>> '{}')`, op, value))
}

const comparisons: Record<MeasureCondition['op'], Clause> = { ...operators, eq: sql`=`, neq: sql`<>` }

/** The columns of conversations that contain measures. */
const measured = { signal: sql`conversations.signals`, sound: sql`conversations.sound` }

/** A measured number of a conversation, or null. */
export const measureAt = (of: keyof typeof measured, path: string[]): RawBuilder<number | null> =>
  sql`(${measured[of]} #>> ${path}::text[])::float8`

const measureClause = (of: keyof typeof measured, { name, op, value }: MeasureCondition): Clause =>
  sql`${measureAt(of, name.split('.'))} ${comparisons[op]} ${value}::float8`

const isSought = ({ op }: Condition): boolean => ['eq', 'is_true', 'is_false'].includes(op)

/** Compares a start time with the times of the selection. */
const timeClauses = ({ since, until, period }: ResolvedPart, startedAt: RawBuilder<unknown>): Clause[] => {
  const moving = period && boundsOfPeriod(period)
  const from = since === undefined ? moving?.since : sql`${since}::timestamptz`
  const to = until === undefined ? moving?.until : sql`${until}::timestamptz`
  const clauses: Clause[] = []
  if (from) clauses.push(sql`${startedAt} >= ${from}`)
  if (to) clauses.push(sql`${startedAt} < ${to}`)
  return clauses
}

/** Returns the conditions that an index in list order supports, without those on times. */
const keyClauses = (selection: Listed): Clause[] => {
  const { agentIds, agentVersionIds, companyIds, customerId, externalId } = selection
  const { statuses, reviewStatus } = selection
  const clauses: Clause[] = []
  if (agentIds?.length === 1) clauses.push(sql`conversations.agent_id = ${agentIds[0]}::uuid`)
  if (agentVersionIds?.length === 1) clauses.push(sql`conversations.agent_version_id = ${agentVersionIds[0]}::uuid`)
  if (companyIds?.length === 1) clauses.push(sql`conversations.company_id = ${companyIds[0]}::uuid`)
  if (statuses?.length === 1) clauses.push(sql`conversations.status = ${statuses[0]}`)
  if (reviewStatus !== undefined) clauses.push(sql`conversations.review_status = ${reviewStatus}`)
  if (customerId !== undefined) clauses.push(sql`conversations.customer_id = ${customerId}`)
  if (externalId !== undefined) clauses.push(sql`conversations.external_id = ${externalId}`)
  return clauses
}

/**
 * Conditions that an index in list order supports. A page with only these conditions never reads more rows than it
 * shows.
 */
export const orderedClauses = (selection: Listed): Clause[] => [
  ...keyClauses(selection),
  ...timeClauses(selection, sql`conversations.started_at`),
]

/** The number for the customer metric `m`: booleans count as 0 and 1, and all other values are null. */
export const metricValue = sql<number | null>`CASE jsonb_typeof(m.value) WHEN 'number' THEN m.value::float8
  WHEN 'boolean' THEN (m.value = 'true'::jsonb)::integer::float8 END`

/** Whether results of all monitor versions count, or only those of the current version. */
export type VersionScope = 'historical' | 'current'

const inScope = (org: OrgId, ids: string[], scope: VersionScope): Clause =>
  scope === 'historical'
    ? sql`true`
    : sql`(r.monitor_id, r.monitor_version) IN (
      SELECT m.id, m.current_version FROM monitors m WHERE m.organization_id = ${org} AND m.id = ANY(${ids}::uuid[]))`

/**
 * Selects the monitors' results. For each conversation, the result of the newest version counts. A backward index scan
 * has this order.
 */
const newestResults = (org: OrgId, ids: string[], within: Clause[]) => sql`
  SELECT DISTINCT ON (r.monitor_id, r.call_started_at, r.conversation_id)
    r.monitor_id, r.call_started_at, r.conversation_id, r.result, r.status
  FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ANY(ARRAY(
      SELECT m.id FROM monitors m
      WHERE m.organization_id = ${org} AND m.id = ANY(${ids}::uuid[]) AND m.deleted_at IS NULL))
    AND ${sql.join([sql`true`, ...within], sql` AND `)}
  ORDER BY r.monitor_id DESC, r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC`

const found: Record<MonitorCondition['result'], Clause> = {
  all: sql`true`,
  affected: sql`n.result = ${codes.affected}`,
  not_affected: sql`n.result = ${codes.notAffected}`,
  unscored: sql`n.status = ${codes.unscored}`,
}

/** The way in which results are read. */
export type ResultLookup =
  /** The results of each conversation are looked up, which suits a few conversations. */
  | 'each'
  /**
   * All results of the monitors are read in one pass, which suits many conversations. In addition to the selection's
   * own period, `before` limits them.
   */
  | { before: string | undefined; within?: Clause[] }

/** Limits the results to the period of the selection. */
const resultsWithin = (selection: ResolvedPart): Clause[] => timeClauses(selection, sql`call_started_at`)

/**
 * Selects conversations by their results. Each conversation has one row for each monitor, so counting rows counts the
 * satisfied conditions.
 */
const monitorClause = (org: OrgId, selection: ResolvedPart, lookup: ResultLookup, scope: VersionScope): Clause => {
  const { monitors = [], match = 'all' } = selection
  const ids = monitors.map(({ id }) => id)
  const wanted = sql`(${sql.join(
    monitors.map(({ id, result }) => sql`(n.monitor_id = ${id}::uuid AND ${found[result]})`),
    sql` OR `,
  )})`
  const needed = match === 'any' || monitors.some(({ result }) => result === 'all') ? 1 : monitors.length
  if (lookup === 'each') {
    const ofThis = [
      inScope(org, ids, scope),
      sql<boolean>`r.call_started_at = conversations.started_at`,
      sql<boolean>`r.conversation_id = conversations.id`,
    ]
    return sql`(SELECT count(*) FROM (${newestResults(org, ids, ofThis)}) n WHERE ${wanted}) >= ${needed}`
  }
  const window: Clause[] = [inScope(org, ids, scope), ...resultsWithin(selection), ...(lookup.within ?? [])]
  if (lookup.before !== undefined) window.push(sql`r.call_started_at <= ${lookup.before}::timestamptz`)
  return sql`(conversations.started_at, conversations.id) IN (
    SELECT n.call_started_at, n.conversation_id FROM (${newestResults(org, ids, window)}) n WHERE ${wanted}
    GROUP BY n.call_started_at, n.conversation_id HAVING count(*) >= ${needed})`
}

/** Compares the newest result of a monitor. A newer version that doesn't match overrules an older one. */
type ResultCondition = {
  monitorId: string
  isMatch: Clause
  /** The conditions of the indexes that contain the results. Every result that can match is in one of them. */
  indexes: [Clause, ...Clause[]]
  /** Whether results are read from the table to check a few conversations. The table must not be scanned. */
  isInTable?: boolean
}

/** Keeps the planner from turning a subquery into a join, so that it looks up each row. */
const lookedUp = sql`OFFSET 0`

type Reading = { lookup: ResultLookup; scope: VersionScope }

const resultClause = (
  org: OrgId,
  { monitorId, isMatch, indexes, isInTable = false }: ResultCondition,
  selection: ResolvedPart,
  { lookup, scope }: Reading,
): Clause => {
  const ofMonitor = sql`r.organization_id = ${org} AND r.monitor_id = ANY(ARRAY(
      SELECT m.id FROM monitors m
      WHERE m.organization_id = ${org} AND m.id = ${monitorId}::uuid AND m.deleted_at IS NULL))
    AND ${inScope(org, [monitorId], scope)}`
  // Only one version is current, so there is no newer one in scope.
  const isNewest =
    scope === 'current'
      ? sql`true`
      : sql`NOT EXISTS (
    SELECT 1 FROM monitor_results b
    WHERE b.organization_id = ${org} AND b.monitor_id = ${monitorId}::uuid AND b.call_started_at = r.call_started_at
      AND b.conversation_id = r.conversation_id AND b.monitor_version > r.monitor_version)`
  if (lookup === 'each') {
    return sql`EXISTS (
      SELECT 1 FROM monitor_results r
      WHERE ${ofMonitor} AND r.call_started_at = conversations.started_at AND r.conversation_id = conversations.id
        AND ${isMatch} AND ${isNewest} ${isInTable ? lookedUp : sql``})`
  }
  const window: Clause[] = [...resultsWithin(selection), ...(lookup.within ?? [])]
  if (lookup.before !== undefined) window.push(sql`r.call_started_at <= ${lookup.before}::timestamptz`)
  const read = indexes.map(
    (contains) => sql`
    SELECT r.call_started_at, r.conversation_id FROM monitor_results r
    WHERE ${sql.join([ofMonitor, contains, isMatch, ...window, isNewest], sql` AND `)}`,
  )
  return sql`(conversations.started_at, conversations.id) IN (${sql.join(read, sql` UNION ALL `)})`
}

/**
 * Returns the condition on the categories of a monitor. An index contains the categories, so other results are not
 * read.
 */
const categoryCondition = ({ monitorId, any }: NonNullable<Part['categories']>): ResultCondition => ({
  monitorId,
  isMatch: sql`r.categories IS NOT NULL AND r.categories && ${any}::text[]`,
  indexes: [sql`r.categories IS NOT NULL`],
})

/** Whether fields are too long for an index entry. Numbers must be literals, as in the indexes. */
const isLong = sql`(octet_length(r.fields::text) > 800 OR coalesce(cardinality(r.unsupported_fields), 0) > 10)::integer`

/**
 * The conditions of the two field indexes. The first index contains the fields, so results that don't match are not
 * read. Long fields are in the second one.
 */
const fieldIndexes: [Clause, ...Clause[]] = [sql`${isLong} < 1`, sql`${isLong} = 1`]

/**
 * Compares dates that contain a year, only a day and month, or only a time of day. Dates are comparable only if they
 * have the same components.
 */
const dateOrdering = (text: RawBuilder<string>, operator: Clause, value: string): Clause | undefined => {
  if (isTimestamp(value, datedField)) return timeMatches(text, sql`${operator} ${value}::timestamptz`, datedField)
  const form = [yearless, timeOfDay].find((format) => new RegExp(format).test(value))
  // The digits of a date have fixed positions, so sorting dates as text sorts them by time.
  return form === undefined ? undefined : sql`(${text} ~ ${form} AND ${text} COLLATE "C" ${operator} ${value})`
}

/** Compares numbers and strings that contain one, which is slower. */
const numberOrdering = (text: RawBuilder<string>, field: RawBuilder<unknown>, op: Ordering, value: string): Clause =>
  sql`CASE WHEN jsonb_typeof(${field}) = 'number' THEN ${field}::numeric ${operators[op]} ${value}::numeric
    WHEN jsonb_typeof(${field}) = 'string' THEN ${ordering(text, op, value)} ELSE false END`

/** Returns whether a value can be ordered: it is a number, a date, or a time of day. */
export const isOrdered = (value: string): boolean =>
  isDecimal(value) ||
  isTimestamp(value, datedField) ||
  [yearless, timeOfDay].some((form) => new RegExp(form).test(value))

/** Compares a value with strings. Equal numbers and dates can be written differently. */
const equalsAny = (text: RawBuilder<string>, field: RawBuilder<unknown>, values: string[]): Clause => {
  const clauses: Clause[] = [sql`${text} = ANY(${values}::text[])`]
  const numbers = values.filter(isDecimal)
  if (numbers.length > 0) {
    clauses.push(sql`CASE WHEN jsonb_typeof(${field}) = 'number'
      THEN (${text})::numeric = ANY(${numbers}::numeric[]) ELSE false END`)
  }
  const dates = values.filter((value) => isTimestamp(value, datedField))
  if (dates.length > 0) clauses.push(timeMatches(text, sql`= ANY(${dates}::timestamptz[])`, datedField))
  return sql`(${sql.join(clauses, sql` OR `)})`
}

/** Compares a string, or the entries of a list, ignoring case. */
const containsText = (text: RawBuilder<string>, field: RawBuilder<unknown>, value: string): Clause =>
  sql`CASE WHEN jsonb_typeof(${field}) = 'array' THEN EXISTS (
      SELECT 1 FROM jsonb_array_elements_text(${field}) AS e(entry) WHERE lower(e.entry) = lower(${value}::text))
    ELSE strpos(lower(${text}), lower(${value}::text)) > 0 END`

/** Compares a field of the result `r`. A missing field is null, which only satisfies `is_not_set`. */
const fieldMatch = ({ field: key, op, value = '', values = [] }: FieldCondition): Clause => {
  const field = sql`(r.fields -> ${key}::text)`
  const text = sql<string>`(CASE WHEN jsonb_typeof(${field}) IN ('string', 'number', 'boolean')
    THEN r.fields ->> ${key}::text END)`
  switch (op) {
    case 'is_set':
      return sql`jsonb_typeof(${field}) <> 'null'`
    case 'is_not_set':
      return sql`coalesce(jsonb_typeof(${field}), 'null') = 'null'`
    case 'is_unsupported':
      return sql`${key}::text = ANY(r.unsupported_fields)`
    case 'eq':
      return equalsAny(text, field, [value])
    case 'in':
      return equalsAny(text, field, values)
    case 'neq':
      return sql`(${text} IS NOT NULL AND NOT ${equalsAny(text, field, [value])})`
    case 'contains':
      return containsText(text, field, value)
    case 'not_contains':
      return sql`(jsonb_typeof(${field}) <> 'null' AND NOT ${containsText(text, field, value)})`
    case 'is_true':
    case 'is_false':
      return textClause(text, op, value)
    default:
      return dateOrdering(text, operators[op], value) ?? numberOrdering(text, field, op, value)
  }
}

/**
 * Returns one condition for each monitor, because each result of the monitor is compared with all of them at once. The
 * planner has no statistics about fields. With CASE, it expects half of the results to match, and compares all versions
 * at once. If it expected only a few matches, it would look up newer versions one by one, even if there are many.
 */
const fieldConditions = (fields: FieldCondition[]): ResultCondition[] =>
  [...Map.groupBy(fields, ({ monitorId }) => monitorId)].map(([monitorId, conditions]) => ({
    monitorId,
    isMatch: sql`r.fields IS NOT NULL
      AND CASE WHEN ${sql.join(conditions.map(fieldMatch), sql` AND `)} THEN true ELSE false END`,
    indexes: fieldIndexes,
    isInTable: true,
  }))

/** Combines the conditions of a nested filter. */
const innerClause = (org: OrgId, inner: Exclusion<Found>, lookup: ResultLookup, scope: VersionScope): Clause => {
  const clauses = [...orderedClauses(inner), ...soughtClauses(org, inner, lookup, scope), ...otherClauses(inner)]
  return sql`(${sql.join(clauses, sql` AND `)})`
}

/** The conditions of nested filters. They read results within the period of the outer filter. */
const nestedClauses = (
  org: OrgId,
  { anyOf, exclude, ...own }: Resolved,
  lookup: ResultLookup,
  scope: VersionScope,
): Clause[] => {
  const inner = lookup === 'each' ? lookup : { ...lookup, within: [...(lookup.within ?? []), ...resultsWithin(own)] }
  const clauses: Clause[] = []
  if (anyOf) {
    const parts = anyOf.map((part) => innerClause(org, part, inner, scope))
    clauses.push(sql`(${sql.join(parts, sql` OR `)})`)
  }
  // A condition on a missing value is neither true nor false.
  if (exclude) clauses.push(sql`${innerClause(org, exclude, inner, scope)} IS NOT TRUE`)
  return clauses
}

/** Conditions that an unordered index supports. */
const soughtClauses = (
  org: OrgId,
  selection: Resolved,
  lookup: ResultLookup,
  scope: VersionScope = 'historical',
): Clause[] => {
  const { agentIds = [], agentVersionIds = [], agentGroupIds = [], companyIds = [], text, metadata = [] } = selection
  const { bucketId, conversationIds, findingIds, tags, topicIds, metrics = [], similarTo } = selection
  const clauses: Clause[] = []
  if (agentIds.length > 1) clauses.push(sql`conversations.agent_id = ANY(${agentIds}::uuid[])`)
  if (agentVersionIds.length > 1) clauses.push(sql`conversations.agent_version_id = ANY(${agentVersionIds}::uuid[])`)
  if (companyIds.length > 1) clauses.push(sql`conversations.company_id = ANY(${companyIds}::uuid[])`)
  if (agentGroupIds.length > 0) {
    clauses.push(sql`conversations.agent_id IN (
      SELECT m.agent_id FROM agent_group_members m
      WHERE m.organization_id = ${org} AND m.group_id = ANY(${agentGroupIds}::uuid[]))`)
  }
  if (bucketId !== undefined) {
    clauses.push(sql`conversations.id IN (
      SELECT b.conversation_id FROM bucket_conversations b
      WHERE b.organization_id = ${org} AND b.bucket_id = ${bucketId}::uuid)`)
  }
  if (conversationIds !== undefined) clauses.push(sql`conversations.id = ANY(${conversationIds}::uuid[])`)
  if (similarTo !== undefined) {
    clauses.push(sql`conversations.id = ANY(${similarTo.map(({ conversationId }) => conversationId)}::uuid[])`)
  }
  if (findingIds !== undefined) {
    clauses.push(sql`conversations.id IN (
      SELECT f.conversation_id FROM finding_conversations f
      WHERE f.organization_id = ${org} AND f.finding_id = ANY(${findingIds}::uuid[]))`)
  }
  if (tags !== undefined) {
    clauses.push(sql`conversations.id IN (
      SELECT g.conversation_id FROM conversation_tags g
      WHERE g.organization_id = ${org} AND g.tag = ANY(${tags}::text[]))`)
  }
  if (topicIds !== undefined) {
    clauses.push(sql`conversations.id IN (
      SELECT o.conversation_id FROM conversation_topics o
      WHERE o.organization_id = ${org} AND o.topic_id IN (
        SELECT t.id FROM topics t WHERE t.organization_id = ${org}
          AND (t.id = ANY(${topicIds}::uuid[]) OR t.group_id = ANY(${topicIds}::uuid[])
            OR t.merged_into_id = ANY(${topicIds}::uuid[]) AND t.ended_at IS NULL)))`)
  }
  clauses.push(...metadata.filter(isSought).map(metadataClause))
  clauses.push(...metrics.map((condition) => metricClause(org, condition)))
  if (text !== undefined) {
    clauses.push(sql`EXISTS (
      SELECT 1 FROM transcripts t
      WHERE t.organization_id = ${org} AND t.conversation_id = conversations.id
        AND t.words @@ websearch_to_tsquery('simple', ${text}))`)
  }
  if (selection.monitors) clauses.push(monitorClause(org, selection, lookup, scope))
  const ofResults = [
    ...(selection.categories ? [categoryCondition(selection.categories)] : []),
    ...fieldConditions(selection.fields ?? []),
  ]
  clauses.push(...ofResults.map((condition) => resultClause(org, condition, selection, { lookup, scope })))
  clauses.push(...nestedClauses(org, selection, lookup, scope))
  return clauses
}

/** Conditions that no index supports. */
const otherClauses = (selection: ResolvedPart): Clause[] => {
  const { channels, directions, statuses = [], metadata = [], signals = [], sound = [] } = selection
  const { minDurationSeconds: min, maxDurationSeconds: max } = selection
  const clauses: Clause[] = []
  if (channels) clauses.push(sql`conversations.channel = ANY(${channels}::text[])`)
  if (directions) clauses.push(sql`conversations.direction = ANY(${directions}::text[])`)
  if (statuses.length > 1) clauses.push(sql`conversations.status = ANY(${statuses}::text[])`)
  if (min !== undefined) clauses.push(sql`conversations.duration_seconds >= ${min}`)
  if (max !== undefined) clauses.push(sql`conversations.duration_seconds <= ${max}`)
  clauses.push(...metadata.filter((condition) => !isSought(condition)).map(metadataClause))
  clauses.push(...signals.map((condition) => measureClause('signal', condition)))
  clauses.push(...sound.map((condition) => measureClause('sound', condition)))
  return clauses
}

export const narrow = <T extends keyof DB, O>(query: SelectQueryBuilder<DB, T, O>, clauses: Clause[]) =>
  clauses.reduce((narrowed, clause) => narrowed.where(clause), query)

export const ofTenant = (org: OrgId): Clause => sql`conversations.organization_id = ${org}`

export const eachTime = sql.raw(plannedEachTime)

/** Conditions that no index in list order supports. */
export const checkedClauses = (org: OrgId, selection: Resolved, lookup: ResultLookup): Clause[] => [
  ...soughtClauses(org, selection, lookup),
  ...otherClauses(selection),
]

/**
 * Restricts a query on `conversations` to those of the organization that match the filter. The query must use this
 * table name.
 */
export const whereSelected = <T extends keyof DB, O>(
  query: SelectQueryBuilder<DB, T, O>,
  org: OrgId,
  selection: Resolved,
  scope?: VersionScope,
) =>
  narrow(query, [
    ofTenant(org),
    ...orderedClauses(selection),
    ...soughtClauses(org, selection, { before: undefined }, scope),
    ...otherClauses(selection),
  ]).modifyEnd(eachTime)

/**
 * Restricts a query to matching conversations like `whereSelected`, but is meant for a few conversations. Looks up the
 * results of each one.
 */
export const whereAmong = <T extends keyof DB, O>(
  query: SelectQueryBuilder<DB, T, O>,
  org: OrgId,
  selection: Resolved,
  ids: string[],
) =>
  narrow(query, [
    ofTenant(org),
    sql`conversations.id = ANY(${ids}::uuid[])`,
    ...orderedClauses(selection),
    ...soughtClauses(org, selection, 'each'),
    ...otherClauses(selection),
  ]).modifyEnd(eachTime)

/**
 * The conditions that narrow a search by meaning: those that can be checked exactly and cheaply for many conversations.
 */
const narrowing = [
  'agentIds',
  'agentVersionIds',
  'agentGroupIds',
  'companyIds',
  'channels',
  'directions',
  'statuses',
  'since',
  'until',
  'period',
  'minDurationSeconds',
  'maxDurationSeconds',
  'customerId',
  'reviewStatus',
  'bucketId',
  'conversationIds',
  'findingIds',
  'tags',
  'topicIds',
] as const

export type Narrowing = Pick<Part, (typeof narrowing)[number]>

/**
 * Returns the conditions of a filter that narrow a search by meaning, so that it only compares conversations that the
 * filter can select.
 */
export const narrowingClauses = (org: OrgId, part: Narrowing): Clause[] => {
  const own: Narrowing = Object.fromEntries(narrowing.flatMap((name) => (name in part ? [[name, part[name]]] : [])))
  return [...orderedClauses(own), ...checkedClauses(org, own, 'each')]
}

/** Returns whether an index in list order finds exactly the selected conversations, so that no other row is read. */
export const isReadInIndexOrder = (org: OrgId, selection: Listed): boolean =>
  soughtClauses(org, selection, 'each').length + otherClauses(selection).length === 0

/**
 * Restricts an index in list order and starts it at the page's position. If the position is within the period, omits
 * the end of the period, which would be redundant and expensive: with two bounds, PostgreSQL 18 starts at the end of
 * the period and reads all pages down to the position.
 */
const orderedFrom = (org: OrgId, selection: Listed, after: string | undefined): Clause[] => {
  if (after === undefined) return [ofTenant(org), ...orderedClauses(selection)]
  const [startedAt = '', id] = after.split(' ')
  const { until, period, ...others } = selection
  const isWithin = until === undefined || Date.parse(startedAt) < Date.parse(until)
  const before = sql<boolean>`(conversations.started_at, conversations.id) < (${startedAt}::timestamptz, ${id}::uuid)`
  // If the period moves forward, a position within the period stays before its end.
  const from = period && sql<boolean>`conversations.started_at >= ${boundsOfPeriod(period).since}`
  return [ofTenant(org), ...orderedClauses(isWithin ? others : { ...others, until }), ...(from ? [from] : []), before]
}

const newest = <T extends 'conversations', O>(query: SelectQueryBuilder<DB, T, O>, count: number) =>
  query.orderBy(sql`conversations.started_at`, 'desc').orderBy(sql`conversations.id`, 'desc').limit(sql.lit(count))

/**
 * Returns a page of a selection that satisfies `isReadInIndexOrder`, with any columns, and one more row if there is a
 * next page.
 */
export const selectInOrder = (db: Db, org: OrgId, selection: Listed, { limit, after }: Page) =>
  newest(narrow(db.selectFrom('conversations'), orderedFrom(org, selection, after)), limit + 1).modifyEnd(eachTime)

/** The number of newest conversations that are checked individually before an unordered index is used. */
export const newestCount = 2_000

/** Selects the affected results of one monitor in any version. An index contains them in list order. */
const affectedBy = (db: Db, org: OrgId, monitorId: string, selection: Resolved) => {
  const affected = db
    .selectFrom('monitor_results')
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    // The value must be a literal, as in the condition of the index.
    .where('result', '=', codes.affected)
    .select(['call_started_at as startedAt', 'conversation_id as id'])
  return resultsWithin(selection).reduce((narrowed, bound) => narrowed.where(bound), affected)
}

/**
 * Returns the conversations on a page of the list, newest first, and one more if there is a next page. `after` is a
 * position, `<startedAt> <id>`. An unordered index can find many or few conversations, and the planner's estimate is
 * not reliable enough: walking through a million conversations for a word that nobody said takes as long as fetching
 * all conversations for a word that everyone said. So the newest conversations are checked first, and the index returns
 * all matches only if they do not fill the page. Subqueries with LIMIT or OFFSET separate the two steps, because they
 * are planned separately. If the filter selects affected results of one monitor, the newest of those are checked in
 * between. If there are no others, the page is complete.
 */
export const listSelected = async (db: Db, org: OrgId, selection: Listed, { limit, after }: Page) => {
  const [startedAt, id] = after?.split(' ') ?? []
  const ordered = orderedFrom(org, selection, after)
  const sought = soughtClauses(org, selection, 'each')
  const others = otherClauses(selection)

  const page = (of: SelectQueryBuilder<DB, 'conversations', object>) =>
    newest(of, limit + 1)
      .select(['conversations.id', 'conversations.started_at as startedAt'])
      .modifyEnd(eachTime)
      .execute()
  /** Uses the subquery as the table in the rest of the statement. */
  const from = <O>(rows: SelectQueryBuilder<DB, 'conversations', O>) =>
    db.selectFrom(rows.as('conversations')) as unknown as SelectQueryBuilder<DB, 'conversations', object>

  const conversations = db.selectFrom('conversations')
  if (sought.length === 0) return page(narrow(conversations, [...ordered, ...others]))
  const candidates = newest(narrow(conversations.select(filtered), ordered), newestCount)
  const found = await page(narrow(from(candidates), [...sought, ...others]))
  if (found.length > limit) return found
  const [monitor, ...more] = selection.monitors ?? []
  if (monitor?.result === 'affected' && more.length === 0) {
    const affected = affectedBy(db, org, monitor.id, selection).$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(call_started_at, conversation_id) < (${startedAt}::timestamptz, ${id}::uuid)`),
    )
    // This step runs first, so that no conversation is missed if a result changes between the steps.
    const [beyond] = await affected
      .orderBy('call_started_at', 'desc')
      .orderBy('conversation_id', 'desc')
      .offset(sql.lit(newestCount))
      .limit(1)
      .modifyEnd(eachTime)
      .execute()
    const few = affected
      .$if(beyond !== undefined, (query) =>
        query.where(sql<boolean>`(call_started_at, conversation_id) > (${beyond?.startedAt}, ${beyond?.id}::uuid)`),
      )
      .offset(sql.lit(0))
    const oneOfThem = sql<boolean>`(conversations.started_at, conversations.id) IN (${few})`
    const theirs = narrow(conversations.select(filtered), [...ordered, oneOfThem]).offset(sql.lit(0))
    const affectedFound = await page(narrow(from(theirs), [...sought, ...others]))
    if (!beyond || affectedFound.length > limit) return affectedFound
  }
  const inPasses = soughtClauses(org, selection, { before: startedAt })
  const all = narrow(conversations.select(filtered), [...ordered, ...inPasses, ...others]).offset(sql.lit(0))
  return page(from(all))
}

export const countSelected = async (db: Db, org: OrgId, selection: Resolved, scope?: VersionScope) => {
  const { count } = await whereSelected(db.selectFrom('conversations'), org, selection, scope)
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow()
  return count
}

type Periods = Calendar & CalendarWindow & { mostPeriods: number }

/** Counts the selected conversations in each interval by their start, oldest first, including empty intervals. */
export const countSelectedByPeriod = async (db: Db, org: OrgId, selection: Resolved, periods: Periods) => {
  const bounds = await listPeriodBounds(db, periods, periods, periods.mostPeriods)
  const period = sql<number>`width_bucket(conversations.started_at, ${bounds}::timestamptz[]) - 1`
  const rows = await whereSelected(db.selectFrom('conversations'), org, selection)
    .select([period.as('period'), sql<number>`count(*)`.as('count')])
    .groupBy(sql`1`)
    .execute()
  const counts = new Map(rows.map((row) => [row.period, row.count]))
  return bounds.slice(0, -1).map((start, at) => ({
    start,
    end: bounds[at + 1] ?? periods.until,
    count: counts.get(at) ?? 0,
  }))
}

/** Returns the statement that selects all matching conversations, oldest first, for a cursor. */
export const selectedStatement = (db: Db, org: OrgId, selection: Resolved, scope: VersionScope) => {
  const { sql: text, parameters } = whereSelected(db.selectFrom('conversations'), org, selection, scope)
    .select(['conversations.id', 'conversations.started_at as startedAt'])
    .orderBy(sql`conversations.started_at`)
    .orderBy(sql`conversations.id`)
    .compile()
  return { text, values: [...parameters] }
}
