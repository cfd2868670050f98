import { type RawBuilder, sql } from 'kysely'
import { notApplicable } from '../filters/category.ts'
import type { Breakdown } from '../monitors/scorecards/algebra.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { plannedEachTime } from '../platform/db/naming-client.ts'
import { resultStatuses, results } from '../platform/db/result-codes.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Status = (typeof resultStatuses)[number]
type Verdict = (typeof results)[number]
type Evidence = { turn: number; quote: string; field?: string }
export type FieldValue = string | number | boolean | string[] | null

export type ResultRow = {
  conversationId: string
  monitorId: string
  monitorVersion: number
  status: Status
  /** Null unless the status is scored. */
  result: Verdict | null
  score: number | null
  reasoning: string | null
  evidence: Evidence[]
  categories: string[] | null
  fields: Record<string, FieldValue> | null
  unsupportedFields: string[]
  /** Null means now. If an equal result is already stored, its time is kept. */
  evaluatedAt: Date | null
  evaluator: string
  tokens: { input: number; output: number } | null
  cost: number | null
  /** The response time of the model, or null if no model was asked. */
  responseMs: number | null
  /** The items of a scorecard. Null for other monitors. */
  breakdown: Breakdown | null
}

type StoreOutcome = 'created' | 'updated' | 'unchanged' | 'absent'

const columnOf = (
  rows: ResultRow[],
  type: string,
  read: (row: ResultRow) => string | number | Date | null,
): RawBuilder<unknown> => sql`${rows.map(read)}::${sql.raw(type)}[]`

/** The columns of a result without its time, because an equal result is not written again. */
const found = [
  'status',
  'result',
  'score',
  'reasoning',
  'evidence',
  'categories',
  'fields',
  'unsupported_fields',
  'evaluator',
  'input_tokens',
  'output_tokens',
  'cost',
  'response_ms',
  'breakdown',
]
const columnsOf = (table: string) => sql.join(found.map((name) => sql.ref(`${table}.${name}`)))

/** Returns keys as the text of an array. Keys can't contain quotation marks. */
const keysOf = (keys: string[] | null): string | null => keys && `{${keys.map((key) => `"${key}"`).join(',')}}`
const unsupportedOf = ({ unsupportedFields }: Pick<ResultRow, 'unsupportedFields'>): string | null =>
  keysOf(unsupportedFields.length > 0 ? unsupportedFields : null)

/** Returns the last result for each key, in a fixed order so that two batches never deadlock. */
const lastOfEach = (rows: ResultRow[]): ResultRow[] => {
  const last = new Map(rows.map((row) => [placeOf(row), row]))
  return [...last].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

const placeOf = ({ monitorId, conversationId, monitorVersion }: ResultRow) =>
  `${monitorId} ${conversationId} ${monitorVersion}`

/**
 * Inserts or updates one row for each conversation and monitor version, and returns the outcome for each given row. If
 * rows have the same key, the last one is stored. IDs are lowercase. The conversations and monitors are locked against
 * deletion until the transaction ends. `absent` lists those that do not exist. Rows that equal the stored ones are not
 * written.
 */
export const upsertResults = async (trx: Db, org: OrgId, given: ResultRow[], now: Date): Promise<StoreOutcome[]> => {
  if (given.length === 0) return []
  const rows = lastOfEach(given)
  const conversationIds = [...new Set(rows.map(({ conversationId }) => conversationId))]
  const monitorIds = [...new Set(rows.map(({ monitorId }) => monitorId))]
  const { rows: told } = await sql<{ sound: number[]; created: string[]; updated: string[] }>`
    WITH given AS (
      SELECT g.monitor_id, g.monitor_version, g.conversation_id, g.status, g.result, g.score, g.reasoning, g.evidence,
        g.categories::text[] AS categories, g.fields, g.unsupported_fields::text[] AS unsupported_fields, g.evaluator,
        g.evaluated_at, g.input_tokens, g.output_tokens, g.cost, g.response_ms, g.breakdown, g.at
      FROM unnest(
        ${columnOf(rows, 'uuid', (row) => row.monitorId)}, ${columnOf(rows, 'integer', (row) => row.monitorVersion)},
        ${columnOf(rows, 'uuid', (row) => row.conversationId)},
        ${columnOf(rows, 'smallint', (row) => resultStatuses.indexOf(row.status))},
        ${columnOf(rows, 'smallint', (row) => row.result && results.indexOf(row.result))},
        ${columnOf(rows, 'float8', (row) => row.score)}, ${columnOf(rows, 'text', (row) => row.reasoning)},
        ${columnOf(rows, 'jsonb', (row) => JSON.stringify(row.evidence))},
        ${columnOf(rows, 'text', (row) => keysOf(row.categories))},
        ${columnOf(rows, 'jsonb', (row) => row.fields && JSON.stringify(row.fields))},
        ${columnOf(rows, 'text', unsupportedOf)},
        ${columnOf(rows, 'text', (row) => row.evaluator)},
        ${columnOf(rows, 'timestamptz', (row) => row.evaluatedAt)},
        ${columnOf(rows, 'integer', (row) => row.tokens?.input ?? null)},
        ${columnOf(rows, 'integer', (row) => row.tokens?.output ?? null)},
        ${columnOf(rows, 'float8', (row) => row.cost)}, ${columnOf(rows, 'integer', (row) => row.responseMs)},
        ${columnOf(rows, 'jsonb', (row) => row.breakdown && JSON.stringify(row.breakdown))}
      ) WITH ORDINALITY AS g(monitor_id, monitor_version, conversation_id, status, result, score, reasoning, evidence,
        categories, fields, unsupported_fields, evaluator, evaluated_at, input_tokens, output_tokens, cost, response_ms,
        breakdown, at)
    ), held_conversations AS (
      SELECT id, started_at FROM conversations
      WHERE organization_id = ${org} AND id = ANY(${conversationIds}::uuid[])
      ORDER BY external_id, id FOR KEY SHARE
    ), held_monitors AS (
      SELECT id FROM monitors
      WHERE organization_id = ${org} AND id = ANY(${monitorIds}::uuid[]) AND deleted_at IS NULL
      ORDER BY id FOR KEY SHARE
    ), sound AS (
      SELECT g.*, c.started_at FROM given g
      JOIN held_conversations c ON c.id = g.conversation_id
      JOIN held_monitors m ON m.id = g.monitor_id
      JOIN monitor_versions v
        ON v.organization_id = ${org} AND v.monitor_id = g.monitor_id AND v.number = g.monitor_version
    ), written AS (
      INSERT INTO monitor_results AS r (organization_id, monitor_id, monitor_version, conversation_id, call_started_at,
        status, result, score, reasoning, evidence, categories, fields, unsupported_fields, evaluator, input_tokens,
        output_tokens, cost, response_ms, breakdown, evaluated_at)
      SELECT ${org}::uuid, g.monitor_id, g.monitor_version, g.conversation_id, g.started_at,
        g.status, g.result, g.score, g.reasoning, g.evidence, g.categories, g.fields, g.unsupported_fields, g.evaluator,
        g.input_tokens, g.output_tokens, g.cost, g.response_ms, g.breakdown, coalesce(g.evaluated_at, (
          SELECT b.evaluated_at FROM monitor_results b
          WHERE b.organization_id = ${org} AND b.monitor_id = g.monitor_id AND b.call_started_at = g.started_at
            AND b.conversation_id = g.conversation_id AND b.monitor_version = g.monitor_version
            AND (${columnsOf('b')}) IS NOT DISTINCT FROM (${columnsOf('g')})), ${now}::timestamptz)
      FROM sound g ORDER BY g.at
      ON CONFLICT ON CONSTRAINT monitor_results_pkey DO UPDATE SET
        (${sql.join([...found, 'evaluated_at'].map((name) => sql.ref(name)))}) =
        (${columnsOf('excluded')}, excluded.evaluated_at)
      WHERE (${columnsOf('r')}, r.evaluated_at) IS DISTINCT FROM (${columnsOf('excluded')}, excluded.evaluated_at)
      RETURNING monitor_id, conversation_id, monitor_version, (xmax = 0) AS created
    )
    SELECT ARRAY(SELECT at::integer FROM sound) AS sound,
      ARRAY(SELECT monitor_id || ' ' || conversation_id || ' ' || monitor_version FROM written WHERE created) AS created,
      ARRAY(SELECT monitor_id || ' ' || conversation_id || ' ' || monitor_version FROM written WHERE NOT created)
        AS updated ${sql.raw(plannedEachTime)}`.execute(trx)
  const { sound = [], created = [], updated = [] } = told[0] ?? {}
  const outcomes = new Map<string, StoreOutcome>(sound.map((at) => [placeOf(rows[at - 1] as ResultRow), 'unchanged']))
  for (const position of created) outcomes.set(position, 'created')
  for (const position of updated) outcomes.set(position, 'updated')
  return given.map((row) => outcomes.get(placeOf(row)) ?? 'absent')
}

/** The results of one evaluation, which can cover many conversations. */
export type Evaluation = {
  evaluator: string
  /** The time when the conversations were read. */
  evaluatedAt: Date
  /** One row for each conversation and monitor. All rows for a monitor have the same version. */
  rows: Omit<ResultRow, 'evaluator' | 'evaluatedAt' | 'breakdown'>[]
}

/** Combines the values that few results have. Returns null if a result has none of these values. */
const detailsOf = (row: Evaluation['rows'][number]): string | null => {
  const { reasoning, evidence, categories, fields, tokens, cost, responseMs } = row
  const isSilent = [reasoning, categories, fields, tokens, cost, responseMs].every((value) => value === null)
  if (isSilent && evidence.length === 0) return null
  return JSON.stringify({
    reasoning,
    evidence,
    ...(categories && { categories: keysOf(categories) }),
    ...(fields && { fields, unsupported: unsupportedOf(row) }),
    input: tokens?.input,
    output: tokens?.output,
    cost,
    responseMs,
  })
}

/**
 * Builds an array as text, because there can be many values. Numbers and IDs are inserted unchanged, and strings are
 * quoted.
 */
const arrayOf = (values: (string | number | null)[]): string => `{${values.map((value) => value ?? 'NULL').join(',')}}`
const quoted = (text: string | null): string | null => text && `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** The result based on the later reading wins, so an outdated evaluation changes nothing. */
const inPlaceOfEarlier = sql`
  ON CONFLICT ON CONSTRAINT monitor_results_pkey DO UPDATE SET
    (${sql.join([...found, 'evaluated_at'].map((name) => sql.ref(name)))}) =
    (${columnsOf('excluded')}, excluded.evaluated_at)
  WHERE r.evaluated_at <= excluded.evaluated_at`

/**
 * Inserts results in the order of the primary key, so that each index page is touched once. Omits results if their
 * conversation or monitor was deleted in the meantime.
 */
const insertEvaluation = (
  trx: Db,
  org: OrgId,
  { evaluator, evaluatedAt, rows }: Evaluation,
  onConflict: RawBuilder<unknown>,
) => {
  const conversations = [...new Set(rows.map(({ conversationId }) => conversationId))]
  const conversationAt = new Map(conversations.map((id, at) => [id, at + 1]))
  const versions = new Map(rows.map(({ monitorId, monitorVersion }) => [monitorId, monitorVersion]))
  const monitors = [...versions.keys()]
  const monitorAt = new Map(monitors.map((id, at) => [id, at + 1]))
  return sql`
    WITH held_conversations AS (
      SELECT c.id, c.started_at FROM conversations c
      WHERE c.organization_id = ${org} AND c.id = ANY(${arrayOf(conversations)}::uuid[])
      ORDER BY c.external_id, c.id FOR KEY SHARE
    ), held_monitors AS (
      SELECT m.id FROM monitors m
      WHERE m.organization_id = ${org} AND m.id = ANY(${arrayOf(monitors)}::uuid[]) AND m.deleted_at IS NULL
      ORDER BY m.id FOR KEY SHARE
    ), c AS (
      SELECT g.at, h.id, h.started_at FROM unnest(${arrayOf(conversations)}::uuid[]) WITH ORDINALITY g(id, at)
      JOIN held_conversations h ON h.id = g.id
    ), m AS (
      SELECT g.at, g.id, g.version
      FROM unnest(${arrayOf(monitors)}::uuid[], ${arrayOf([...versions.values()])}::integer[])
        WITH ORDINALITY g(id, version, at)
      JOIN held_monitors h ON h.id = g.id
      JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = g.id AND v.number = g.version
    )
    INSERT INTO monitor_results AS r (organization_id, monitor_id, monitor_version, conversation_id, call_started_at,
      status, result, score, reasoning, evidence, categories, fields, unsupported_fields, evaluator, input_tokens,
      output_tokens, cost, response_ms, evaluated_at)
    SELECT ${org}::uuid, m.id, m.version, c.id, c.started_at, g.status, g.result, g.score, g.said->>'reasoning',
      coalesce(g.said->'evidence', '[]'), (g.said->>'categories')::text[], g.said->'fields',
      (g.said->>'unsupported')::text[], ${evaluator}, (g.said->>'input')::integer, (g.said->>'output')::integer,
      (g.said->>'cost')::float8, (g.said->>'responseMs')::integer, ${evaluatedAt}::timestamptz
    FROM unnest(${arrayOf(rows.map(({ conversationId }) => conversationAt.get(conversationId) ?? null))}::integer[],
      ${arrayOf(rows.map(({ monitorId }) => monitorAt.get(monitorId) ?? null))}::integer[],
      ${arrayOf(rows.map(({ status }) => resultStatuses.indexOf(status)))}::smallint[],
      ${arrayOf(rows.map(({ result }) => result && results.indexOf(result)))}::smallint[],
      ${arrayOf(rows.map(({ score }) => score))}::float8[],
      ${arrayOf(rows.map((row) => quoted(detailsOf(row))))}::jsonb[]) g(conversation, monitor, status, result, score, said)
    JOIN c ON c.at = g.conversation
    JOIN m ON m.at = g.monitor
    ORDER BY m.id, c.started_at, c.id
    ${onConflict} ${sql.raw(plannedEachTime)}`.execute(trx)
}

/**
 * Stores results from the service itself, thousands with one statement. Most conversations are evaluated only once, and
 * checking each row for a conflict takes a quarter of the time, so the first attempt does not check.
 */
export const storeEvaluation = async (trx: Db, org: OrgId, evaluation: Evaluation): Promise<void> => {
  if (evaluation.rows.length === 0) return
  await sql`SAVEPOINT before_results`.execute(trx)
  try {
    await insertEvaluation(trx, org, evaluation, sql``)
  } catch (error) {
    if (violatedConstraint(error) !== 'monitor_results_pkey') throw error
    await sql`ROLLBACK TO SAVEPOINT before_results`.execute(trx)
    await insertEvaluation(trx, org, evaluation, inPlaceOfEarlier)
  }
  await sql`RELEASE SAVEPOINT before_results`.execute(trx)
}

const columns = [
  'r.conversation_id as conversationId',
  'r.monitor_id as monitorId',
  'r.monitor_version as monitorVersion',
  sql<Status>`(${resultStatuses}::text[])[r.status + 1]`.as('status'),
  sql<Verdict | null>`(${results}::text[])[r.result + 1]`.as('result'),
  'r.score',
  'r.reasoning',
  sql<Evidence[]>`r.evidence`.as('evidence'),
  'r.evaluated_at as evaluatedAt',
  'r.evaluator',
  sql<{ input: number; output: number } | null>`
    CASE WHEN r.input_tokens IS NOT NULL
      THEN json_build_object('input', r.input_tokens, 'output', r.output_tokens) END`.as('tokens'),
  'r.cost',
  'r.categories',
  sql<Record<string, FieldValue> | null>`r.fields`.as('fields'),
  sql<string[]>`coalesce(r.unsupported_fields, '{}')`.as('unsupportedFields'),
  sql<boolean>`coalesce(${notApplicable} = ANY(r.categories), false)`.as('notApplicable'),
  sql<Breakdown | null>`r.breakdown`.as('breakdown'),
  'r.call_started_at as callStartedAt',
] as const

export type ResultFilter = {
  result?: Verdict | 'unscored' | 'failed'
  since?: string
  until?: string
  version?: number
}

/**
 * Lists results, latest calls first. `after` is a position, `<callStartedAt> <conversationId> <version>`. An index-only
 * scan finds the rows of the page, and only those are read.
 */
export const listMonitorResults = (db: Db, org: OrgId, monitorId: string, filter: ResultFilter, page: Page) => {
  const { result, since, until, version } = filter
  const [startedAt, conversationId, lastVersion] = page.after?.split(' ') ?? []
  const isScored = result === 'affected' || result === 'not_affected'
  const keys = db
    .selectFrom('monitor_results')
    .select(['call_started_at', 'conversation_id', 'monitor_version'])
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    // The value must be a literal, as in the condition of the index on affected results.
    .$if(isScored, (query) => query.where('result', '=', sql.lit(results.indexOf(result as Verdict))))
    .$if(result !== undefined && !isScored, (query) =>
      query.where('status', '=', resultStatuses.indexOf(result as Status)),
    )
    .$if(version !== undefined, (query) => query.where('monitor_version', '=', version as number))
    .$if(since !== undefined, (query) => query.where('call_started_at', '>=', sql<Date>`${since}::timestamptz`))
    .$if(until !== undefined, (query) => query.where('call_started_at', '<', sql<Date>`${until}::timestamptz`))
    .$if(page.after !== undefined, (query) =>
      query.where(sql<boolean>`(call_started_at, conversation_id, monitor_version) <
        (${startedAt}::timestamptz, ${conversationId}::uuid, ${Number(lastVersion)}::integer)`),
    )
    .orderBy('call_started_at', 'desc')
    .orderBy('conversation_id', 'desc')
    .orderBy('monitor_version', 'desc')
    .limit(page.limit + 1)
  return db
    .selectFrom(keys.as('k'))
    .innerJoin('monitor_results as r', (join) =>
      join
        .on('r.organization_id', '=', org)
        .on('r.monitor_id', '=', monitorId)
        .onRef('r.call_started_at', '=', 'k.call_started_at')
        .onRef('r.conversation_id', '=', 'k.conversation_id')
        .onRef('r.monitor_version', '=', 'k.monitor_version'),
    )
    .select(columns)
    .orderBy('r.call_started_at', 'desc')
    .orderBy('r.conversation_id', 'desc')
    .orderBy('r.monitor_version', 'desc')
    .execute()
}

export const getCallStart = async (db: Db, org: OrgId, conversationId: string): Promise<Date> => {
  const { startedAt } = await db
    .selectFrom('conversations')
    .select('started_at as startedAt')
    .where('organization_id', '=', org)
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow(notFound)
  return startedAt
}

type OfConversation = { id: string; startedAt: Date; history: boolean }

/**
 * Lists the results of one conversation by monitor, newest version first. Without history, only the newest version's
 * result is listed for each monitor. The statement names the monitors, so that each row is found by one lookup.
 */
export const listConversationResults = (db: Db, org: OrgId, of: OfConversation, { limit, after }: Page) => {
  const { id, startedAt, history } = of
  const [monitorId, version] = after?.split(' ') ?? []
  return db
    .selectFrom('monitor_results as r')
    .select(columns)
    .$if(!history, (query) => query.distinctOn('r.monitor_id'))
    .where('r.organization_id', '=', org)
    .where(sql<boolean>`r.monitor_id = ANY(ARRAY(
      SELECT m.id FROM monitors m WHERE m.organization_id = ${org} AND m.deleted_at IS NULL))`)
    .where('r.call_started_at', '=', startedAt)
    .where('r.conversation_id', '=', id)
    .$if(after !== undefined && history, (query) =>
      query.where(sql<boolean>`(r.monitor_id, r.monitor_version) < (${monitorId}::uuid, ${Number(version)}::integer)`),
    )
    .$if(after !== undefined && !history, (query) => query.where('r.monitor_id', '<', monitorId as string))
    .orderBy('r.monitor_id', 'desc')
    .orderBy('r.monitor_version', 'desc')
    .limit(limit + 1)
    .execute()
}

type ItemPlace = { monitorId: string; version: number; callStartedAt: Date; conversationId: string }

/** The limits for the quotes and reasoning shown with an item. The item's own result contains all of them. */
const mostQuotes = 5
const longestReason = 1_000

export type ItemReason = ItemPlace & { reasoning: string | null; evidence: Evidence[] }

/** Returns the reasons for scorecard items' results, each found by one lookup. */
export const listItemReasons = async (db: Db, org: OrgId, places: ItemPlace[]): Promise<ItemReason[]> => {
  const { rows } = await sql<ItemReason>`
    SELECT r.monitor_id AS "monitorId", r.monitor_version AS version, r.call_started_at AS "callStartedAt",
      r.conversation_id AS "conversationId", left(r.reasoning, ${longestReason}) AS reasoning,
      jsonb_path_query_array(r.evidence, ${`$[0 to ${mostQuotes - 1}]`}::jsonpath) AS evidence
    FROM unnest(${places.map(({ monitorId }) => monitorId)}::uuid[], ${places.map(({ version }) => version)}::integer[],
      ${places.map(({ callStartedAt }) => callStartedAt)}::timestamptz[],
      ${places.map(({ conversationId }) => conversationId)}::uuid[]) AS p(monitor_id, version, started_at, id)
    JOIN monitor_results r ON r.organization_id = ${org} AND r.monitor_id = p.monitor_id
      AND r.call_started_at = p.started_at AND r.conversation_id = p.id AND r.monitor_version = p.version`.execute(db)
  return rows
}

/** The position of a row among its monitor's rows. */
type ResultPosition = { callStartedAt: Date; conversationId: string; version: number }

type Batch = { monitorId: string; limit: number; after: ResultPosition | undefined }

/**
 * Deletes the next rows of a monitor and returns the position of the last one. `after` skips rows that were just
 * deleted, because their index entries still exist.
 */
export const deleteResultsOfMonitor = async (trx: Db, org: OrgId, { monitorId, limit, after }: Batch) => {
  const { rows } = await sql<ResultPosition>`
    DELETE FROM monitor_results r
    USING (
      SELECT call_started_at, conversation_id, monitor_version FROM monitor_results
      WHERE organization_id = ${org} AND monitor_id = ${monitorId}::uuid
        AND (call_started_at, conversation_id, monitor_version) >
          (${after?.callStartedAt ?? '-infinity'}::timestamptz,
           ${after?.conversationId ?? '00000000-0000-0000-0000-000000000000'}::uuid, ${after?.version ?? 0}::integer)
      ORDER BY call_started_at, conversation_id, monitor_version LIMIT ${limit}) k
    WHERE r.organization_id = ${org} AND r.monitor_id = ${monitorId}::uuid
      AND r.call_started_at = k.call_started_at AND r.conversation_id = k.conversation_id
      AND r.monitor_version = k.monitor_version
    RETURNING r.call_started_at AS "callStartedAt", r.conversation_id AS "conversationId",
      r.monitor_version AS version`.execute(trx)
  const inOrder = rows.sort(
    (a, b) =>
      a.callStartedAt.getTime() - b.callStartedAt.getTime() ||
      (a.conversationId < b.conversationId ? -1 : a.conversationId > b.conversationId ? 1 : a.version - b.version),
  )
  return inOrder.at(-1)
}

/** Deletes a monitor. The foreign key also deletes its versions. */
export const deleteMonitor = async (trx: Db, org: OrgId, id: string): Promise<void> => {
  await trx
    .deleteFrom('monitors')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .execute()
}

type ErasedCall = { id: string; startedAt: Date }

/**
 * Deletes the results of erased calls. The primary key finds them by monitor and call start. This includes results of
 * deleted monitors, which may not have been deleted by a job yet.
 */
export const deleteResultsOf = async (trx: Db, org: OrgId, erased: ErasedCall[]): Promise<void> => {
  await sql`
    DELETE FROM monitor_results r
    USING unnest(${erased.map(({ id }) => id)}::uuid[], ${erased.map(({ startedAt }) => startedAt)}::timestamptz[])
      AS e(id, started_at)
    WHERE r.organization_id = ${org}
      AND r.monitor_id = ANY(ARRAY(SELECT m.id FROM monitors m WHERE m.organization_id = ${org}))
      AND r.call_started_at = e.started_at AND r.conversation_id = e.id`.execute(trx)
}
