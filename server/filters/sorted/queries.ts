import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { batchesOf } from '../../platform/batches.ts'
import type { Clause } from '../../platform/db/clause.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { boundsOfPeriod } from '../../platform/db/periods.ts'
import type { DB } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Similar } from '../../platform/meanings.ts'
import {
  checkedClauses,
  eachTime,
  filtered,
  measureAt,
  metricValue,
  narrow,
  newestCount,
  ofTenant,
  orderedClauses,
  type Resolved,
  type Selection,
  whereAmong,
  whereSelected,
} from '../queries.ts'
import { mostSorted, type Sorting } from '../sort.ts'

/**
 * Reads pages of a list in any order. Like the list itself, first checks a limited number of conversations in index
 * order, and selects all matches only if those do not fill the page.
 */

export type SortedRow = { id: string; startedAt: Date; value: number | null }

/** The position after the row with this value, start, and ID. */
type Position = { value: number | null; startedAt: string; id: string }

export const positionOf = ({ value, startedAt, id }: SortedRow): string => `${value} ${startedAt.toISOString()} ${id}`

const readPosition = (after: string | undefined): Position | undefined => {
  if (after === undefined) return undefined
  const [value = '', startedAt = '', id = ''] = after.split(' ')
  return { value: value === 'null' ? null : Number(value), startedAt, id }
}

type Direction = Sorting['direction']

const beyond: Record<Direction, RawBuilder<unknown>> = { asc: sql`>`, desc: sql`<` }

type Columns = { value?: RawBuilder<unknown>; startedAt: RawBuilder<unknown>; id: RawBuilder<unknown> }

const ofConversation = { startedAt: sql`conversations.started_at`, id: sql`conversations.id` }

/**
 * Selects the rows after the position. Values are compared together as one row, so that an index finds the first one.
 */
const pastClauses = (
  { value, startedAt, id }: Columns,
  direction: Direction,
  position: Position | undefined,
): Clause[] => {
  if (!position) return []
  const last = sql`${position.startedAt}::timestamptz, ${position.id}::uuid`
  return value
    ? [sql`(${value}, ${startedAt}, ${id}) ${beyond[direction]} (${position.value}::float8, ${last})`]
    : [sql`(${startedAt}, ${id}) ${beyond[direction]} (${last})`]
}

const inOrder = <D, T extends keyof D, O>(
  query: SelectQueryBuilder<D, T, O>,
  { value, startedAt, id }: Columns,
  direction: Direction,
) =>
  query
    .$if(value !== undefined, (part) => part.orderBy(value as RawBuilder<unknown>, direction))
    .orderBy(startedAt, direction)
    .orderBy(id, direction)

type Rows = SelectQueryBuilder<DB, 'conversations', object>

/** Uses the subquery like the table in the rest of the statement. */
const from = <O>(db: Db, rows: SelectQueryBuilder<DB, 'conversations', O>) =>
  db.selectFrom(rows.as('conversations')) as unknown as Rows

type IndexedPart = {
  columns: Columns
  /** Conditions that the index in this order supports. */
  indexed: Clause[]
  /** The other conditions, one version for a few conversations and one for many. */
  each: Clause[]
  many: Clause[]
}

/** Reads the rows of a section that has an index in its order on conversations. */
const readPart = async (
  db: Db,
  { columns, indexed, each, many }: IndexedPart,
  direction: Direction,
  position: Position | undefined,
  count: number,
): Promise<SortedRow[]> => {
  const within = [...indexed, ...pastClauses(columns, direction, position)]
  const page = (rows: Rows): Promise<SortedRow[]> =>
    inOrder(rows, columns, direction)
      .limit(sql.lit(count))
      .select([
        'conversations.id',
        'conversations.started_at as startedAt',
        sql<number | null>`${columns.value ?? null}::float8`.as('value'),
      ])
      .modifyEnd(eachTime)
      .execute()
  const all = db.selectFrom('conversations')
  if (each.length === 0) return page(narrow(all, within))
  const first = inOrder(narrow(all.select(filtered), within), columns, direction).limit(sql.lit(newestCount))
  const found = await page(narrow(from(db, first), each))
  if (found.length >= count) return found
  return page(from(db, narrow(all.select(filtered), [...within, ...many]).offset(sql.lit(0))))
}

const isNewest = (org: OrgId): Clause => sql`NOT EXISTS (
  SELECT 1 FROM monitor_results newer
  WHERE newer.organization_id = ${org} AND newer.monitor_id = r.monitor_id
    AND newer.call_started_at = r.call_started_at AND newer.conversation_id = r.conversation_id
    AND newer.monitor_version > r.monitor_version)`

const score = {
  value: sql`r.score`,
  startedAt: sql`r.call_started_at`,
  id: sql`r.conversation_id`,
}

/** Reads scores of the monitor in index order. The page joins them with their conversations. */
const readScored = async (
  db: Db,
  org: OrgId,
  selection: Resolved,
  monitorId: string,
  direction: Direction,
  position: Position | undefined,
  count: number,
): Promise<SortedRow[]> => {
  const scored = db
    .selectFrom('monitor_results as r')
    .select(['r.monitor_id', 'r.monitor_version', 'r.call_started_at', 'r.conversation_id', 'r.score'])
    .where('r.organization_id', '=', org)
    .where('r.monitor_id', '=', monitorId)
    .where('r.score', 'is not', null)
  const scores = pastClauses(score, direction, position).reduce((query, clause) => query.where(clause), scored)
  const page = (results: typeof scores, rows: Rows): Promise<SortedRow[]> =>
    inOrder(
      rows
        .innerJoin(results.as('r'), (join) =>
          join
            .onRef('r.conversation_id', '=', sql.ref('conversations.id'))
            .onRef('r.call_started_at', '=', sql.ref('conversations.started_at')),
        )
        .where(isNewest(org)),
      score,
      direction,
    )
      .limit(sql.lit(count))
      .select(['conversations.id', 'conversations.started_at as startedAt', 'r.score as value'])
      .modifyEnd(eachTime)
      .execute()
  const all = db.selectFrom('conversations')
  const ofSelection = (lookup: Parameters<typeof checkedClauses>[2]) => [
    ofTenant(org),
    ...orderedClauses(selection),
    ...checkedClauses(org, selection, lookup),
  ]
  const first = inOrder(scores, score, direction).limit(sql.lit(newestCount))
  const found = await page(first, narrow(all, ofSelection('each')))
  if (found.length >= count) return found
  const selected = narrow(all.select(filtered), ofSelection({ before: undefined })).offset(sql.lit(0))
  return page(scores, from(db, selected))
}

const hasNoScore = (org: OrgId, monitorId: string): Clause => sql`NOT EXISTS (
  SELECT 1 FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}::uuid
    AND r.call_started_at = conversations.started_at AND r.conversation_id = conversations.id
    AND r.score IS NOT NULL AND ${isNewest(org)})`

/**
 * Restricts the index in list order. After a position within the period, the bound on the side where the list began
 * would be redundant and expensive: PostgreSQL 18 starts at that end.
 */
const listOrder = (selection: Resolved, direction: Direction, position: Position | undefined): Clause[] => {
  if (!position) return orderedClauses(selection)
  const { since, until, period, ...others } = selection
  const start = Date.parse(position.startedAt)
  if (direction === 'desc' && until !== undefined && start >= Date.parse(until)) return orderedClauses(selection)
  if (direction === 'asc' && since !== undefined && start < Date.parse(since)) return orderedClauses(selection)
  const kept = direction === 'desc' ? since && { since } : until && { until }
  const moving = period && boundsOfPeriod(period)
  const bound =
    direction === 'desc'
      ? moving && sql<boolean>`conversations.started_at >= ${moving.since}`
      : moving?.until && sql<boolean>`conversations.started_at < ${moving.until}`
  return [...orderedClauses({ ...others, ...kept }), ...(bound ? [bound] : [])]
}

const partByStart = (
  org: OrgId,
  selection: Resolved,
  direction: Direction,
  position: Position | undefined,
  also: Clause[] = [],
): IndexedPart => ({
  columns: ofConversation,
  indexed: [ofTenant(org), ...listOrder(selection, direction, position)],
  each: [...checkedClauses(org, selection, 'each'), ...also],
  many: [...checkedClauses(org, selection, { before: undefined }), ...also],
})

const durations = (org: OrgId, selection: Resolved, isKnown: boolean): IndexedPart => {
  const { minDurationSeconds: min, maxDurationSeconds: max } = selection
  const duration = sql`conversations.duration_seconds`
  const indexed: Clause[] = [ofTenant(org), isKnown ? sql`${duration} IS NOT NULL` : sql`${duration} IS NULL`]
  if (min !== undefined) indexed.push(sql`${duration} >= ${min}`)
  if (max !== undefined) indexed.push(sql`${duration} <= ${max}`)
  return {
    columns: { ...ofConversation, ...(isKnown && { value: duration }) },
    indexed,
    each: [...orderedClauses(selection), ...checkedClauses(org, selection, 'each')],
    many: [...orderedClauses(selection), ...checkedClauses(org, selection, { before: undefined })],
  }
}

/** Reads the conversations with a value first, and then the others. */
const readTwoParts = async (
  position: Position | undefined,
  count: number,
  known: (count: number) => Promise<SortedRow[]>,
  unknown: (position: Position | undefined, count: number) => Promise<SortedRow[]>,
): Promise<SortedRow[]> => {
  if (position && position.value === null) return unknown(position, count)
  const rows = await known(count)
  return rows.length >= count ? rows : [...rows, ...(await unknown(undefined, count - rows.length))]
}

const sortValue = (
  org: OrgId,
  key: Extract<Sorting['key'], { kind: 'signal' | 'sound' | 'metric' }>,
): RawBuilder<number | null> =>
  key.kind !== 'metric'
    ? measureAt(key.kind, key.path)
    : sql`(
      SELECT ${metricValue} FROM customer_metrics m
      WHERE m.organization_id = ${org} AND m.conversation_id = conversations.id AND m.key = ${key.key})`

/** Sorts a limited number of conversations, because signals, measures of sound, and metrics have no index. */
const readValues = async (
  db: Db,
  org: OrgId,
  selection: Resolved,
  { key, direction }: Sorting & { key: Parameters<typeof sortValue>[1] },
  position: Position | undefined,
  count: number,
): Promise<SortedRow[]> => {
  const values = inOrder(
    narrow(db.selectFrom('conversations'), [
      ofTenant(org),
      ...orderedClauses(selection),
      ...checkedClauses(org, selection, { before: undefined }),
    ]),
    ofConversation,
    'desc',
  )
    .limit(sql.lit(mostSorted))
    .select(['conversations.id', 'conversations.started_at as startedAt', sortValue(org, key).as('value')])
  const last = position && sql`(${position.startedAt}::timestamptz, ${position.id}::uuid)`
  const later = sql`("startedAt", id) ${beyond[direction]} ${last}`
  const value = position && sql`${position.value}::float8`
  const past =
    position?.value === null
      ? sql<boolean>`value IS NULL AND ${later}`
      : sql<boolean>`(value IS NULL OR value ${beyond[direction]} ${value} OR value = ${value} AND ${later})`
  return db
    .selectFrom(values.as('v'))
    .select(['id', 'startedAt', 'value'])
    .$if(position !== undefined, (query) => query.where(past))
    .orderBy(sql`value IS NULL`)
    .orderBy('value', direction)
    .orderBy('startedAt', direction)
    .orderBy('id', direction)
    .limit(sql.lit(count))
    .modifyEnd(eachTime)
    .execute()
}

/** Two conversations with the same similarity are in the order of their IDs. */
const compareSimilar = (a: Similar, b: Similar): number =>
  a.similarity - b.similarity || (a.conversationId < b.conversationId ? -1 : 1)

/** Returns the conversations that `similarTo` selects, in the order of their similarity. */
const inSimilarOrder = ({ similarTo = [] }: Selection<Similar[]>, direction: Direction): Similar[] =>
  similarTo.toSorted((a, b) => (direction === 'asc' ? compareSimilar(a, b) : compareSimilar(b, a)))

/** The number of conversations that are checked against the rest of the filter at once. */
const similarBatch = 500

/** Checks similar conversations in their order, because their similarity is known before the database is asked. */
const readSimilar = async (
  db: Db,
  org: OrgId,
  selection: Selection<Similar[]>,
  direction: Direction,
  after: string | undefined,
  count: number,
): Promise<SortedRow[]> => {
  const [value = '', , conversationId = ''] = after?.split(' ') ?? []
  const last = { conversationId, similarity: Number(value) }
  const sign = direction === 'asc' ? 1 : -1
  const isLater = (one: Similar) => after === undefined || sign * compareSimilar(one, { ...one, ...last }) > 0
  const rows: SortedRow[] = []
  for (const batch of batchesOf(inSimilarOrder(selection, direction).filter(isLater), similarBatch)) {
    const ids = batch.map((one) => one.conversationId)
    const found = await whereAmong(db.selectFrom('conversations'), org, selection, ids)
      .select(['conversations.id', 'conversations.started_at as startedAt'])
      .execute()
    const starts = new Map(found.map(({ id, startedAt }) => [id, startedAt]))
    for (const { conversationId: id, similarity } of batch) {
      const startedAt = starts.get(id)
      if (startedAt) rows.push({ id, startedAt, value: similarity })
    }
    if (rows.length >= count) break
  }
  return rows.slice(0, count)
}

const sortedBy = (
  org: OrgId,
  key: Sorting['key'],
  selection: Selection<Similar[]>,
): RawBuilder<unknown> | undefined => {
  if (key.kind === 'startedAt') return undefined
  if (key.kind === 'similarity') {
    const ids = inSimilarOrder(selection, 'asc').map(({ conversationId }) => conversationId)
    return sql`array_position(${ids}::uuid[], conversations.id)`
  }
  if (key.kind === 'durationSeconds') return sql`conversations.duration_seconds`
  if (key.kind !== 'score') return sortValue(org, key)
  return sql`(
    SELECT r.score FROM monitor_results r
    WHERE r.organization_id = ${org} AND r.monitor_id = ${key.monitorId}::uuid
      AND r.call_started_at = conversations.started_at AND r.conversation_id = conversations.id
    ORDER BY r.monitor_version DESC LIMIT 1)`
}

/**
 * Returns the statement that selects all matching conversations in this order, for a cursor. Conversations without a
 * value come last.
 */
export const sortedStatement = (
  db: Db,
  org: OrgId,
  selection: Selection<Similar[]>,
  { key, direction }: Sorting,
  limit: number,
) => {
  const value = sortedBy(org, key, selection)
  const { sql: text, parameters } = whereSelected(db.selectFrom('conversations'), org, selection)
    .select(['conversations.id', 'conversations.started_at as startedAt'])
    .$if(value !== undefined, (query) =>
      query.orderBy(sql`${value} ${sql.raw(direction === 'asc' ? 'ASC' : 'DESC')} NULLS LAST`),
    )
    .orderBy(sql`conversations.started_at`, direction)
    .orderBy(sql`conversations.id`, direction)
    .limit(sql.lit(limit))
    .compile()
  return { text, values: [...parameters] }
}

/** Returns the conversations on a page in this order, and one more if there is a next page. */
export const listSorted = (
  db: Db,
  org: OrgId,
  selection: Selection<Similar[]>,
  sorting: Sorting,
  { limit, after }: Page,
): Promise<SortedRow[]> => {
  const { key, direction } = sorting
  if (key.kind === 'similarity') return readSimilar(db, org, selection, direction, after, limit + 1)
  const position = readPosition(after)
  const count = limit + 1
  if (key.kind === 'startedAt') {
    return readPart(db, partByStart(org, selection, direction, position), direction, position, count)
  }
  if (key.kind === 'durationSeconds') {
    return readTwoParts(
      position,
      count,
      (most) => readPart(db, durations(org, selection, true), direction, position, most),
      (last, most) => readPart(db, durations(org, selection, false), direction, last, most),
    )
  }
  if (key.kind === 'score') {
    const { monitorId } = key
    return readTwoParts(
      position,
      count,
      (most) => readScored(db, org, selection, monitorId, direction, position, most),
      (last, most) => {
        const part = partByStart(org, selection, direction, last, [hasNoScore(org, monitorId)])
        return readPart(db, part, direction, last, most)
      },
    )
  }
  return readValues(db, org, selection, { key, direction }, position, count)
}
