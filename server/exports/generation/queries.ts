// Reads everything in one snapshot, on its only connection. COPY takes no parameters, so IDs and times are validated
// and then inserted into the text.

import type { OrgId } from '../../platform/db/database.ts'
import type { Snapshot as Db, TakeTuple } from '../../platform/db/snapshot.ts'

/** The position of a call. Calls are read in this order. */
export type CallPosition = { startedAt: string; id: string }

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const checked = (form: RegExp, text: string): string => {
  if (!form.test(text)) throw new TypeError('An id or an instant is in another form than those of the database')
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

type More = { columns: string; joins: string }

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

type Window = { since: string; until: string; after: CallPosition | undefined; limit: number }

export const copyCallsOfWindow = (db: Db, org: OrgId, { since, until, after, limit }: Window, take: TakeTuple) => {
  const from = after ? `(c.started_at, c.id) > ${position(after)}` : `c.started_at >= ${instant(since)}`
  const page = `${from} AND c.started_at < ${instant(until)} ORDER BY c.started_at, c.id LIMIT ${limit}`
  return db.copy(callsWithNames(org, page), take)
}

export const copyCalls = (db: Db, org: OrgId, ids: string[], take: TakeTuple) =>
  db.copy(callsWithNames(org, `c.id = ANY(${uuids(ids)})`), take)

type Observed = { experimentId: string; outcomes: number; ids: string[] }

/** The words for the stored numbers. Number 0 means not applicable and has no word. */
const observationWords = `(ARRAY['observed', 'pending', 'missing', 'failed'])`

/** Reads the values of `cellsOfObservations`. */
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

type Columns = { monitorIds: string[]; reasoning: boolean }

const resultColumns = ({ reasoning }: Columns): string =>
  `r.monitor_id, r.conversation_id, r.monitor_version, r.status, r.evaluated_at, r.result, r.score${
    reasoning ? ', r.reasoning' : ''
  }`

const inOrder = 'ORDER BY r.monitor_id, r.call_started_at, r.conversation_id'

const resultsOf = (org: OrgId, { monitorIds }: Columns): string =>
  `r.organization_id = ${uuid(org)} AND r.monitor_id = ANY(${uuids(monitorIds)})`

type Stretch = { first: CallPosition; last: CallPosition }
type PageStretch = Stretch & { isTied: boolean }

const within = ({ first, last }: Stretch): string =>
  `r.call_started_at BETWEEN ${instant(first.startedAt)} AND ${instant(last.startedAt)}`

/**
 * Reads the results of all calls in a range. Uses only the primary key, unless reasoning is included. `isTied` means
 * that calls outside of the page may start at the same time as its first or last one. Only then is each row compared
 * with both positions, which costs a tenth of the time. The range of times is still needed, because the planner
 * estimates positions badly.
 */
export const copyResultsBetween = (db: Db, org: OrgId, columns: Columns, stretch: PageStretch, take: TakeTuple) => {
  const { first, last, isTied } = stretch
  const place = '(r.call_started_at, r.conversation_id)'
  const exactly = isTied ? `AND ${place} >= ${position(first)} AND ${place} <= ${position(last)}` : ''
  return db.copy(
    `SELECT ${resultColumns(columns)} FROM monitor_results r
     WHERE ${resultsOf(org, columns)} AND ${within(stretch)} ${exactly} ${inOrder}`,
    take,
  )
}

/** Reads the results of many calls in a range. Reads all results of the range, and the database drops the others. */
export const copyResultsAmong = (db: Db, org: OrgId, columns: Columns, calls: CallPosition[], take: TakeTuple) => {
  const [first, last] = [calls[0], calls.at(-1)]
  if (!first || !last) return Promise.resolve()
  return db.copy(
    `SELECT ${resultColumns(columns)} FROM monitor_results r
     WHERE ${resultsOf(org, columns)} AND ${within({ first, last })}
       AND r.conversation_id = ANY(${uuids(calls.map(({ id }) => id))}) ${inOrder}`,
    take,
  )
}

/** Reads the results of few calls in a range. Looks up the results of each call. */
export const copyResultsOfEach = (db: Db, org: OrgId, columns: Columns, calls: CallPosition[], take: TakeTuple) => {
  const times = instants(calls.map(({ startedAt }) => startedAt))
  return db.copy(
    `SELECT ${resultColumns(columns)}
     FROM unnest(${times}, ${uuids(calls.map(({ id }) => id))}) AS c (started_at, id)
     JOIN monitor_results r ON r.call_started_at = c.started_at AND r.conversation_id = c.id
     WHERE ${resultsOf(org, columns)} ${inOrder}`,
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

/** Opens a cursor for a statement whose rows are all read. */
export const openCursor = async (db: Db, _org: OrgId, { text, values }: Statement): Promise<void> => {
  await db.query('SET LOCAL cursor_tuple_fraction = 1')
  await db.query(`DECLARE calls NO SCROLL CURSOR FOR ${text}`, values)
}

/**
 * Opens a cursor for the conversations in the arms of an experiment. A conversation that was just erased is still
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
