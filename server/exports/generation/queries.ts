// Reads everything in one snapshot, on its only connection. COPY takes no parameters, so IDs and times are validated
// and then inserted into the text.

import type { OrgId } from '../../platform/db/database.ts'
import type { Snapshot as Db, TakeTuple } from '../../platform/db/snapshot.ts'

/** The position of a call in time order. */
export type CallPosition = { startedAt: string; id: string }

/** The order in which calls are read: by time, or as they are listed. */
export type RowOrder = 'oldest' | 'newest' | 'listed'

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const checked = (form: RegExp, text: string): string => {
  if (!form.test(text)) throw new TypeError('An ID or a time does not have the database’s format')
  return text
}

const uuid = (id: string): string => `'${checked(idForm, id)}'::uuid`
const uuids = (ids: string[]): string => `'{${ids.map((id) => checked(idForm, id)).join()}}'::uuid[]`
const instant = (text: string): string => `'${checked(instantForm, text)}'::timestamptz`
const instants = (texts: string[]): string =>
  `'{${texts.map((text) => checked(instantForm, text)).join()}}'::timestamptz[]`
const position = ({ startedAt, id }: CallPosition): string => `(${instant(startedAt)}, ${uuid(id)})`

export type FoundMonitor = { id: string; name: string; version: number }

export const listMonitors = (db: Db, org: OrgId, ids: string[]) =>
  db.query<FoundMonitor>(
    `SELECT id, name, current_version AS version FROM monitors
     WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND deleted_at IS NULL`,
    [org, ids],
  )

export type ItemOfScorecard = { scorecardId: string; monitorId: string; name: string }

/** Lists the items of the monitors that are scorecards, in the order of the scorecards' current versions. */
export const listItems = (db: Db, org: OrgId, ids: string[]) =>
  db.query<ItemOfScorecard>(
    `SELECT i.scorecard_id AS "scorecardId", i.monitor_id AS "monitorId", n.name
     FROM (
       SELECT m.id AS scorecard_id, (item.value ->> 'monitorId')::uuid AS monitor_id, item.place
       FROM monitors m
       JOIN monitor_versions v ON v.organization_id = $1 AND v.monitor_id = m.id AND v.number = m.current_version
       CROSS JOIN LATERAL jsonb_path_query(v.definition, '$.sections[*].items[*]')
         WITH ORDINALITY AS item (value, place)
       WHERE m.organization_id = $1 AND m.id = ANY($2::uuid[]) AND m.kind = 'scorecard' AND m.deleted_at IS NULL
     ) i
     JOIN monitors n ON n.organization_id = $1 AND n.id = i.monitor_id
     ORDER BY i.scorecard_id, i.place`,
    [org, ids],
  )

/** Returns the monitors that the list of conversations shows, newest first. */
export const listNewestMonitors = (db: Db, org: OrgId, limit: number) =>
  db.query<FoundMonitor>(
    `SELECT id, name, current_version AS version FROM monitors
     WHERE organization_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2`,
    [org, limit],
  )

type More = { columns: string; joins: string }

/** A value in a scorecard's result: an item's outcome, or the band. `version` 0 is the newest version with a result. */
export type ScorecardCell = { monitorId: string; version: number; itemId: string | null }

/** Joins the result of each scorecard as `s0`, `s1`, …, so that it is only looked up once for all cells. */
const scorecardsOf = (org: OrgId, cells: ScorecardCell[]) => {
  const ids = [...new Set(cells.map(({ monitorId }) => monitorId))]
  const joinOf = (monitorId: string, at: number) => {
    const version = cells.find((cell) => cell.monitorId === monitorId)?.version ?? 0
    return `LEFT JOIN LATERAL (
      SELECT r.breakdown ->> 'band' AS band, (
        SELECT jsonb_object_agg(item ->> 'monitorId', item ->> 'outcome')
        FROM jsonb_path_query(r.breakdown, '$.sections[*].items[*]') item) AS outcomes
      FROM monitor_results r
      WHERE r.organization_id = ${uuid(org)} AND r.monitor_id = ${uuid(monitorId)} AND r.call_started_at = c.started_at
        AND r.conversation_id = c.id ${version > 0 ? `AND r.monitor_version = ${version}` : ''}
      ORDER BY r.monitor_version DESC LIMIT 1) s${at} ON true`
  }
  return {
    joins: ids.map(joinOf).join(' '),
    expressionOf: ({ monitorId, itemId }: Omit<ScorecardCell, 'version'>): string => {
      const alias = `s${ids.indexOf(monitorId)}`
      return itemId === null ? `${alias}.band` : `${alias}.outcomes ->> '${checked(idForm, itemId)}'`
    },
  }
}

/**
 * Reads `callColumns` and additional columns. Selects the page first, so that agents are only looked up for its rows.
 */
const callsWithNames = (org: OrgId, page: string, { columns, joins }: More = { columns: '', joins: '' }): string => `
  SELECT c.id, c.external_id, c.started_at, c.ended_at, c.duration_seconds, c.channel, c.direction,
    c.agent_id, a.name, v.number, c.company_id, k.name, c.customer_id, c.metadata::text ${columns}
  FROM (SELECT * FROM conversations c WHERE c.organization_id = ${uuid(org)} AND ${page}) c ${joins}
  LEFT JOIN agents a ON a.organization_id = ${uuid(org)} AND a.id = c.agent_id
  LEFT JOIN agent_versions v ON v.organization_id = ${uuid(org)} AND v.id = c.agent_version_id
  LEFT JOIN companies k ON k.organization_id = ${uuid(org)} AND k.id = c.company_id
  ORDER BY c.started_at, c.id`

export type Window = { since: string; until: string; after: CallPosition | undefined; limit: number }

const oldestOfWindow = ({ since, until, after, limit }: Window): string => {
  const from = after ? `(c.started_at, c.id) > ${position(after)}` : `c.started_at >= ${instant(since)}`
  return `${from} AND c.started_at < ${instant(until)} ORDER BY c.started_at, c.id LIMIT ${limit}`
}

const newestOfWindow = ({ since, until, after, limit }: Window): string => {
  const to = after ? `(c.started_at, c.id) < ${position(after)}` : `c.started_at < ${instant(until)}`
  return `${to} AND c.started_at >= ${instant(since)} ORDER BY c.started_at DESC, c.id DESC LIMIT ${limit}`
}

const moreOf = (org: OrgId, cells: ScorecardCell[]): More => {
  const { joins, expressionOf } = scorecardsOf(org, cells)
  return { columns: cells.map((cell) => `, ${expressionOf(cell)}`).join(''), joins }
}

/** Reads `callColumns`, followed by the cells of scorecards. */
export const copyCallsOfWindow = (db: Db, org: OrgId, cells: ScorecardCell[], window: Window, take: TakeTuple) =>
  db.copy(callsWithNames(org, oldestOfWindow(window), moreOf(org, cells)), take)

export const copyCalls = (db: Db, org: OrgId, cells: ScorecardCell[], ids: string[], take: TakeTuple) =>
  db.copy(callsWithNames(org, `c.id = ANY(${uuids(ids)})`, moreOf(org, cells)), take)

/** The values of a conversation that are read as stored. */
export type Property =
  | 'external_id'
  | 'started_at'
  | 'ended_at'
  | 'duration_seconds'
  | 'channel'
  | 'direction'
  | 'status'
  | 'end_reason'
  | 'agent_id'
  | 'agent_name'
  | 'agent_version'
  | 'company_id'
  | 'company_name'
  | 'customer_id'
  | 'review_status'
  | 'findings'
  | 'tags'
  | 'topic_id'
  | 'topic_name'
  | 'regions'
  | 'cost'

/** The source of a cell of a conversation. */
export type CellSource =
  | { kind: 'property'; property: Property }
  | { kind: 'metadata' | 'metric'; key: string }
  | { kind: 'signal' | 'sound'; path: string[] }
  | { kind: 'result' | 'score'; monitorId: string }
  | { kind: 'categories'; monitorId: string }
  /** A field in a monitor's newest result: a number, a list of strings, or any other value. */
  | { kind: 'field'; monitorId: string; field: string; as: 'number' | 'list' | 'value' }
  /** The outcome of a scorecard item, or the scorecard's band. */
  | { kind: 'scorecard'; monitorId: string; itemId: string | null }
  | { kind: 'affected' | 'excerpt' | 'transcript' }

/** Returns a string as an SQL expression. Hexadecimal digits need no quoting. */
const literal = (text: string): string => `convert_from(decode('${Buffer.from(text).toString('hex')}', 'hex'), 'UTF8')`

const measureName = /^[A-Za-z0-9]+$/

/** The number of titles and monitors is limited as in the list of conversations. */
const mostFindings = 20
export const mostMonitors = 100

/** Returns an expression over a conversation's topic `y`, or the one that it was merged into. */
const ofTopic = (org: string, expression: string): string => `(
  SELECT ${expression} FROM conversation_topics w
  JOIN topics x ON x.organization_id = ${org} AND x.id = w.topic_id
  JOIN topics y ON y.organization_id = ${org} AND y.id = coalesce(x.merged_into_id, x.id)
  WHERE w.organization_id = ${org} AND w.conversation_id = c.id)`

const properties: Record<Property, (org: string) => string> = {
  external_id: () => 'c.external_id',
  started_at: () => 'c.started_at',
  ended_at: () => 'c.ended_at',
  duration_seconds: () => 'c.duration_seconds',
  channel: () => 'c.channel',
  direction: () => 'c.direction',
  status: () => 'c.status',
  end_reason: () => 'c.end_reason',
  agent_id: () => 'c.agent_id',
  agent_name: () => 'a.name',
  agent_version: () => 'v.number',
  company_id: () => 'c.company_id',
  company_name: () => 'k.name',
  customer_id: () => 'c.customer_id',
  review_status: () => 'c.review_status',
  findings: (org) => `(
    SELECT jsonb_agg(f.title ORDER BY f.id DESC)::text FROM (
      SELECT g.id, g.title
      FROM finding_conversations x JOIN findings g ON g.organization_id = ${org} AND g.id = x.finding_id
      WHERE x.organization_id = ${org} AND x.conversation_id = c.id
      ORDER BY g.id DESC LIMIT ${mostFindings}) f)`,
  tags: (org) => `(
    SELECT jsonb_agg(g.tag ORDER BY g.tag)::text
    FROM conversation_tags g WHERE g.organization_id = ${org} AND g.conversation_id = c.id)`,
  topic_id: (org) => ofTopic(org, 'y.id'),
  topic_name: (org) => ofTopic(org, "coalesce(y.label, array_to_string(y.terms, ', '))"),
  regions: (org) => `(
    SELECT jsonb_agg(jsonb_build_object('startMs', m.start_ms, 'endMs', m.end_ms, 'channel', m.channel, 'note', m.note)
      ORDER BY m.start_ms, m.id)::text
    FROM conversation_regions m WHERE m.organization_id = ${org} AND m.conversation_id = c.id)`,
  cost: (org) => `(
    SELECT sum(r.cost) FROM monitor_results r
    WHERE r.organization_id = ${org} AND r.call_started_at = c.started_at AND r.conversation_id = c.id
      AND r.monitor_id = ANY(ARRAY(
        SELECT m.id FROM monitors m WHERE m.organization_id = ${org} AND m.deleted_at IS NULL
        ORDER BY m.id DESC LIMIT ${mostMonitors})))`,
}

/** The joins that define the aliases used in some properties. */
const joins: Record<string, (org: string) => string> = {
  a: (org) => `LEFT JOIN agents a ON a.organization_id = ${org} AND a.id = c.agent_id`,
  v: (org) => `LEFT JOIN agent_versions v ON v.organization_id = ${org} AND v.id = c.agent_version_id`,
  k: (org) => `LEFT JOIN companies k ON k.organization_id = ${org} AND k.id = c.company_id`,
  t: (org) => `LEFT JOIN transcripts t ON t.organization_id = ${org} AND t.conversation_id = c.id`,
}

/** Returns an expression over the newest result `r` of a monitor. */
const ofNewestResult = (org: string, monitorId: string, expression: string): string => `(
  SELECT ${expression} FROM monitor_results r
  WHERE r.organization_id = ${org} AND r.monitor_id = ${uuid(monitorId)} AND r.call_started_at = c.started_at
    AND r.conversation_id = c.id
  ORDER BY r.monitor_version DESC LIMIT 1)`

const fieldOf = ({ field, as }: Extract<CellSource, { kind: 'field' }>): string => {
  const value = `r.fields -> ${literal(field)}`
  if (as === 'number') return `CASE jsonb_typeof(${value}) WHEN 'number' THEN (${value})::float8 END`
  return as === 'list'
    ? `CASE jsonb_typeof(${value}) WHEN 'array' THEN (${value})::text END`
    : `nullif(${value}, 'null'::jsonb)::text`
}

const expressionOf = (org: string, source: CellSource): string => {
  switch (source.kind) {
    case 'categories':
      return ofNewestResult(org, source.monitorId, 'to_jsonb(r.categories)::text')
    case 'field':
      return ofNewestResult(org, source.monitorId, fieldOf(source))
    case 'property':
      return properties[source.property](org)
    case 'metadata':
      return `nullif(c.metadata -> ${literal(source.key)}, 'null'::jsonb)::text`
    case 'metric':
      return `(SELECT m.value::text FROM customer_metrics m
        WHERE m.organization_id = ${org} AND m.conversation_id = c.id AND m.key = ${literal(source.key)})`
    case 'signal':
    case 'sound': {
      const column = source.kind === 'signal' ? 'c.signals' : 'c.sound'
      return `(${column} #>> '{${source.path.map((part) => checked(measureName, part)).join()}}')::float8`
    }
    default:
      // These cells are filled in after the tuples and their results have been read.
      return 'NULL::text'
  }
}

/**
 * Returns SQL for three lines: the format, whether the content is truncated (1 or 0), and the content. The content is
 * truncated if only its first words are needed.
 */
const transcriptOf = (length: number | undefined): string => {
  const content = length === undefined ? 't.content' : `left(t.content, ${length})`
  const isCut = length === undefined ? '0' : `(t.content_length > ${length})::integer`
  return `CASE WHEN t.format IS NOT NULL THEN concat(t.format, chr(10), ${isCut}, chr(10), ${content}) END`
}

export type ConversationColumns = {
  sources: CellSource[]
  /** The number of characters that are read from each transcript. */
  transcript: 'none' | 'whole' | number
}

/** Selects each conversation's ID, its cells, its start, and its transcript. */
const selectConversations = (
  org: OrgId,
  { sources, transcript }: ConversationColumns,
  { rows, order }: { rows: string; order: string },
): string => {
  const of = uuid(org)
  const scorecards = scorecardsOf(
    org,
    sources.flatMap((source) => (source.kind === 'scorecard' ? { ...source, version: 0 } : [])),
  )
  const read = (source: CellSource): string =>
    source.kind === 'scorecard' ? scorecards.expressionOf(source) : expressionOf(of, source)
  const cells = ['c.id', ...sources.map(read), 'c.started_at']
  if (transcript !== 'none') cells.push(transcriptOf(transcript === 'whole' ? undefined : transcript))
  const joined = Object.entries(joins).filter(([alias]) =>
    cells.some((cell) => new RegExp(`\\b${alias}\\.`).test(cell)),
  )
  const all = [...joined.map(([, join]) => join(of)), scorecards.joins].join(' ')
  return `SELECT ${cells.join(', ')} FROM (${rows}) c ${all} ORDER BY ${order}`
}

const byTime = { oldest: 'c.started_at, c.id', newest: 'c.started_at DESC, c.id DESC' }

type Timed = Exclude<RowOrder, 'listed'>

export const copyConversationsOfWindow = (
  db: Db,
  org: OrgId,
  columns: ConversationColumns,
  { order, ...window }: Window & { order: Timed },
  take: TakeTuple,
) => {
  const page = order === 'oldest' ? oldestOfWindow(window) : newestOfWindow(window)
  const rows = `SELECT * FROM conversations c WHERE c.organization_id = ${uuid(org)} AND ${page}`
  return db.copy(selectConversations(org, columns, { rows, order: byTime[order] }), take)
}

/** Reads conversations by ID, ordered by start time or as listed. */
export const copyConversations = (
  db: Db,
  org: OrgId,
  columns: ConversationColumns,
  { ids, order }: { ids: string[]; order: RowOrder },
  take: TakeTuple,
) => {
  const isOf = `c.organization_id = ${uuid(org)}`
  if (order !== 'listed') {
    const rows = `SELECT * FROM conversations c WHERE ${isOf} AND c.id = ANY(${uuids(ids)})`
    return db.copy(selectConversations(org, columns, { rows, order: byTime[order] }), take)
  }
  const rows = `SELECT c.*, listed.place
    FROM unnest(${uuids(ids)}) WITH ORDINALITY AS listed (id, place) JOIN conversations c ON ${isOf} AND c.id = listed.id`
  return db.copy(selectConversations(org, columns, { rows, order: 'c.place' }), take)
}

type Observed = { experimentId: string; outcomes: number; ids: string[] }

/** The words for the stored numbers. Number 0 means "not applicable" and has no word. */
const observationWords = `(ARRAY['observed', 'pending', 'missing', 'failed'])`

/** Reads the values for `cellsOfObservations`. */
export const copyObserved = (db: Db, org: OrgId, { experimentId, outcomes, ids }: Observed, take: TakeTuple) => {
  const ofOutcomes = Array.from({ length: outcomes }, (_, at) => {
    const place = at + 1
    return `, ${observationWords}[e.statuses[${place}]], CASE e.statuses[${place}] WHEN 1 THEN e.observed[${place}] END`
  })
  const columns = `, e.arm, CASE e.arm WHEN 'a' THEN x.arm_a_name ELSE x.arm_b_name END,
    CASE WHEN e.is_alone THEN c.id::text
      ELSE coalesce(CASE x.assignment_unit ->> 'kind' WHEN 'auto' THEN c.customer_id
        ELSE c.metadata ->> (x.assignment_unit ->> 'key') END, e.unit_id::text) END ${ofOutcomes.join(' ')}`
  const joins = `
  JOIN experiment_conversations e ON e.organization_id = ${uuid(org)} AND e.experiment_id = ${uuid(experimentId)}
    AND e.conversation_id = c.id
  JOIN experiments x ON x.organization_id = ${uuid(org)} AND x.id = ${uuid(experimentId)}`
  return db.copy(callsWithNames(org, `c.id = ANY(${uuids(ids)})`, { columns, joins }), take)
}

type Columns = { monitorIds: string[]; reasoning: boolean; order: RowOrder }

const resultColumns = ({ reasoning }: Columns): string =>
  `r.monitor_id, r.conversation_id, r.monitor_version, r.status, r.evaluated_at, r.result, r.score${
    reasoning ? ', r.reasoning' : ''
  }`

/** The results of each monitor are consecutive, in the order of the calls. */
const inOrder: Record<RowOrder, string> = {
  oldest: 'ORDER BY r.monitor_id, r.call_started_at, r.conversation_id',
  newest: 'ORDER BY r.monitor_id DESC, r.call_started_at DESC, r.conversation_id DESC',
  listed: 'ORDER BY r.monitor_id, c.place',
}

const resultsOf = (org: OrgId, { monitorIds }: Columns): string =>
  `r.organization_id = ${uuid(org)} AND r.monitor_id = ANY(${uuids(monitorIds)})`

type Stretch = { first: CallPosition; last: CallPosition }
type PageStretch = Stretch & { isTied: boolean }

const within = ({ first, last }: Stretch): string =>
  `r.call_started_at BETWEEN ${instant(first.startedAt)} AND ${instant(last.startedAt)}`

/**
 * Reads the results of all calls in a range. Uses only the primary key, unless reasoning is included. `isTied` means
 * that calls outside the page may start at the same time as its first or last call. Only then is each row compared with
 * both positions, which adds a tenth to the time. The range of times is still needed, because the planner's estimates
 * for positions are poor.
 */
export const copyResultsBetween = (db: Db, org: OrgId, columns: Columns, stretch: PageStretch, take: TakeTuple) => {
  const { first, last, isTied } = stretch
  const place = '(r.call_started_at, r.conversation_id)'
  const exactly = isTied ? `AND ${place} >= ${position(first)} AND ${place} <= ${position(last)}` : ''
  return db.copy(
    `SELECT ${resultColumns(columns)} FROM monitor_results r
     WHERE ${resultsOf(org, columns)} AND ${within(stretch)} ${exactly} ${inOrder[columns.order]}`,
    take,
  )
}

/**
 * Reads the results of many calls in a range. Reads all results in the range, and lets the database drop those of other
 * calls.
 */
export const copyResultsAmong = (db: Db, org: OrgId, columns: Columns, calls: CallPosition[], take: TakeTuple) => {
  const ends = [calls[0], calls.at(-1)]
  const [first, last] = columns.order === 'newest' ? ends.reverse() : ends
  if (!first || !last) return Promise.resolve()
  return db.copy(
    `SELECT ${resultColumns(columns)} FROM monitor_results r
     WHERE ${resultsOf(org, columns)} AND ${within({ first, last })}
       AND r.conversation_id = ANY(${uuids(calls.map(({ id }) => id))}) ${inOrder[columns.order]}`,
    take,
  )
}

/** Reads the results of a few calls in a range. Looks up the results of each call. */
export const copyResultsOfEach = (db: Db, org: OrgId, columns: Columns, calls: CallPosition[], take: TakeTuple) => {
  const times = instants(calls.map(({ startedAt }) => startedAt))
  return db.copy(
    `SELECT ${resultColumns(columns)}
     FROM unnest(${times}, ${uuids(calls.map(({ id }) => id))}) WITH ORDINALITY AS c (started_at, id, place)
     JOIN monitor_results r ON r.call_started_at = c.started_at AND r.conversation_id = c.id
     WHERE ${resultsOf(org, columns)} ${inOrder[columns.order]}`,
    take,
  )
}

export const countCallsBetween = async (db: Db, org: OrgId, { first, last }: Stretch): Promise<number> => {
  const text = `SELECT count(*)::int AS count FROM conversations
    WHERE organization_id = $1 AND started_at BETWEEN $2::timestamptz AND $3::timestamptz`
  const found = await db.query<{ count: number }>(text, [org, first.startedAt, last.startedAt])
  return found[0]?.count ?? 0
}

type Statement = { text: string; values: unknown[] }

/** Opens a cursor for a statement from which all rows are read. */
export const openCursor = async (db: Db, _org: OrgId, { text, values }: Statement): Promise<void> => {
  await db.query('SET LOCAL cursor_tuple_fraction = 1')
  await db.query(`DECLARE calls NO SCROLL CURSOR FOR ${text}`, values)
}

/**
 * Opens a cursor for the conversations in the arms of an experiment. A conversation that has just been erased is still
 * counted, but has no row.
 */
export const openCursorOfObserved = (db: Db, org: OrgId, experimentId: string): Promise<void> =>
  openCursor(db, org, {
    text: `SELECT c.id, c.started_at AS "startedAt"
      FROM experiment_conversations e
      JOIN conversations c ON c.organization_id = $1::uuid AND c.id = e.conversation_id
      WHERE e.organization_id = $1::uuid AND e.experiment_id = $2::uuid AND e.arm IS NOT NULL
      ORDER BY c.started_at, c.id`,
    values: [org, experimentId],
  })

export const fetchCalls = async (db: Db, _org: OrgId, count: number): Promise<CallPosition[]> => {
  const found = await db.query<{ id: string; startedAt: Date }>(`FETCH ${count} FROM calls`)
  return found.map(({ id, startedAt }) => ({ id, startedAt: startedAt.toISOString() }))
}
