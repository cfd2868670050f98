import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { plannedEachTime } from '../../platform/db/naming-client.ts'
import type { Arm } from '../../statistics/sums.ts'
import type { AssignmentUnit } from '../assignment-unit.ts'
import type { StoredMeasure, StoredPoint } from '../queries.ts'

type Concerned = { experimentId: string; conversationId: string }

/** Returns whether the organization has ever launched an experiment. If it hasn't, nothing else is checked. */
const wereLaunched = async (db: Db, org: OrgId): Promise<boolean> => {
  const launched = await db
    .selectFrom('experiments')
    .select('id')
    .where('organization_id', '=', org)
    .where('started_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return launched !== undefined
}

/**
 * Returns the experiments that these conversations may belong to, judging by their immutable properties. A finished
 * experiment doesn't count new conversations, but it may contain an erased conversation or receive a late result.
 */
export const listConcerned = async (trx: Db, org: OrgId, ids: string[]): Promise<Concerned[]> => {
  if (!(await wereLaunched(trx, org))) return []
  const { rows } = await sql<Concerned>`
    SELECT e.id AS "experimentId", c.id AS "conversationId"
    FROM experiments e
    JOIN conversations c ON c.organization_id = ${org} AND c.agent_id = e.agent_id AND c.started_at >= e.started_at
    WHERE e.organization_id = ${org} AND c.id = ANY(${ids}::uuid[])
      AND (e.finished_at IS NULL OR c.started_at < e.finished_at + interval '5 minutes')
    ORDER BY e.id, c.id ${sql.raw(plannedEachTime)}`.execute(trx)
  return rows
}

/** Returns the running experiments among the given ones. */
export const listRunningOf = async (db: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  if (!(await wereLaunched(db, org))) return []
  const { rows } = await sql<{ id: string }>`
    SELECT e.id FROM experiments e
    WHERE e.organization_id = ${org} AND EXISTS (
      SELECT 1 FROM conversations c WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[])
        AND c.agent_id = e.agent_id AND c.started_at >= e.started_at
        AND (e.finished_at IS NULL OR c.created_at < e.finished_at))
      AND EXISTS (SELECT 1 FROM experiment_runs r WHERE r.organization_id = ${org} AND r.experiment_id = e.id
        AND r.trigger = 'launch' AND r.status = 'running')
    ORDER BY e.id ${sql.raw(plannedEachTime)}`.execute(db)
  return rows.map(({ id }) => id)
}

type Changes = { rows: (Concerned & { id: string })[]; at: Date }

export const insertChanges = (trx: Db, org: OrgId, { rows, at }: Changes) =>
  sql`
    INSERT INTO experiment_changes (organization_id, experiment_id, id, conversation_id, at)
    SELECT ${org}, c.experiment_id, c.id, c.conversation_id, ${at}
    FROM unnest(${rows.map(({ experimentId }) => experimentId)}::uuid[], ${rows.map(({ id }) => id)}::uuid[],
      ${rows.map(({ conversationId }) => conversationId)}::uuid[]) AS c (experiment_id, id, conversation_id)`.execute(
    trx,
  )

/** Returns experiments with uncounted changes. */
export const listChangedAllOrgs = (db: Db) =>
  db
    .selectFrom('experiments as e')
    .select([sql<OrgId>`e.organization_id`.as('org'), 'e.id'])
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('experiment_changes as c')
          .select('c.id')
          .whereRef('c.organization_id', '=', 'e.organization_id')
          .whereRef('c.experiment_id', '=', 'e.id'),
      ),
    )
    .orderBy('e.organization_id')
    .orderBy('e.id')
    .execute()

export const hasChanges = async (db: Db, org: OrgId, experimentId: string): Promise<boolean> => {
  const change = await db
    .selectFrom('experiment_changes')
    .select('id')
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .limit(1)
    .executeTakeFirst()
  return change !== undefined
}

/** Locks an experiment. Returns false while another process counts or changes it. */
export const tryLock = async (trx: Db, org: OrgId, experimentId: string): Promise<boolean> => {
  const locked = await trx
    .selectFrom('experiments')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', experimentId)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst()
  return locked !== undefined
}

type Change = { conversationId: string; at: Date }

/**
 * Deletes and returns the oldest changes. The caller has locked the experiment and reads the changed data afterwards.
 */
export const takeChanges = async (trx: Db, org: OrgId, experimentId: string, limit: number): Promise<Change[]> => {
  const { rows } = await sql<Change>`
    DELETE FROM experiment_changes
    WHERE organization_id = ${org} AND experiment_id = ${experimentId} AND id = ANY(ARRAY(
      SELECT id FROM experiment_changes WHERE organization_id = ${org} AND experiment_id = ${experimentId}
      ORDER BY id LIMIT ${limit}))
    RETURNING conversation_id AS "conversationId", at`.execute(trx)
  return rows
}

/** Returns the current conversations, with the fields that can identify their unit. */
export const listPresent = (trx: Db, org: OrgId, ids: string[], { kind, key = '' }: AssignmentUnit) =>
  trx
    .selectFrom('conversations')
    .select([
      'id',
      'agent_id as agentId',
      'agent_version_id as agentVersionId',
      'status',
      'started_at as startedAt',
      'company_id as companyId',
      'direction',
      'customer_id as customerId',
      (kind === 'metadata'
        ? sql<string | null>`CASE WHEN jsonb_typeof(metadata -> ${key}::text) IN ('string', 'number', 'boolean')
          THEN nullif(metadata ->> ${key}::text, '') END`
        : sql<string | null>`NULL`
      ).as('metadataValue'),
    ])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

export type Present = Awaited<ReturnType<typeof listPresent>>[number]

type Pinned = { position: number; monitorId: string; monitorVersion: number; measure: StoredMeasure | null }

export type FoundResult = {
  conversationId: string
  position: number
  /** 0: scored, 1: unscored, 2: failed. */
  status: number
  /** 1: affected, 0: not affected. */
  result: number | null
  score: number | null
  evaluatedAt: Date
  /** Null if there are no categories or no category is measured. */
  categories: string[] | null
  /** The value of the measured field. */
  field: unknown
}

type OfPinned = { conversations: { id: string; startedAt: Date }[]; pinned: Pinned[] }

/** Returns the conversations' results from the pinned versions. */
export const listPinnedResults = async (trx: Db, org: OrgId, of: OfPinned): Promise<FoundResult[]> => {
  const { conversations, pinned } = of
  if (conversations.length === 0) return []
  // The primary key contains all other columns, so results are only read if a category or field is measured.
  const isInKey = pinned.every(({ measure }) => measure === null)
  const { rows } = await sql<FoundResult>`
    SELECT r.conversation_id AS "conversationId", p.position, r.status, r.result, r.score,
      r.evaluated_at AS "evaluatedAt", r.categories, r.field
    FROM unnest(${conversations.map(({ startedAt }) => startedAt)}::timestamptz[],
      ${conversations.map(({ id }) => id)}::uuid[]) AS c (started_at, id)
    CROSS JOIN unnest(${pinned.map(({ position }) => position)}::integer[],
      ${pinned.map(({ monitorId }) => monitorId)}::uuid[],
      ${pinned.map(({ monitorVersion }) => monitorVersion)}::integer[],
      ${pinned.map(({ measure }) => (measure?.kind === 'field' ? measure.field : null))}::text[])
      AS p (position, monitor_id, version, field)
    CROSS JOIN LATERAL (
      SELECT r.conversation_id, r.status, r.result, r.score, r.evaluated_at,
        ${isInKey ? sql`NULL::text[] AS categories, NULL::jsonb AS field` : sql`r.categories, r.fields -> p.field AS field`}
      FROM monitor_results r
      WHERE r.organization_id = ${org} AND r.monitor_id = p.monitor_id AND r.call_started_at = c.started_at
        AND r.conversation_id = c.id AND r.monitor_version = p.version
      -- There is at most one result. The limit keeps the planner from reading all results.
      LIMIT 1) r
    ${sql.raw(plannedEachTime)}`.execute(trx)
  return rows
}

/** A counted conversation. */
export type Counted = {
  conversationId: string
  /** Null if the version is in neither arm. */
  arm: Arm | null
  otherVersionId: string | null
  unitId: string
  isAlone: boolean
  startedAt: Date
  companyId: string | null
  direction: string | null
  addedAt: Date
  retriedAt: Date | null
  statuses: number[]
  observed: number[]
}

type Pending = { isPending: boolean }

export const listCounted = (trx: Db, org: OrgId, experimentId: string, ids: string[]): Promise<Counted[]> =>
  trx
    .selectFrom('experiment_conversations')
    .select([
      'conversation_id as conversationId',
      sql<Arm | null>`arm`.as('arm'),
      'other_version_id as otherVersionId',
      'unit_id as unitId',
      'is_alone as isAlone',
      'started_at as startedAt',
      'company_id as companyId',
      'direction',
      'added_at as addedAt',
      'retried_at as retriedAt',
      'statuses',
      'observed',
    ])
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

export const upsertCounted = async (trx: Db, org: OrgId, experimentId: string, rows: (Counted & Pending)[]) => {
  if (rows.length === 0) return
  const arrays = (read: (row: Counted) => number[]) => rows.map((row) => `{${read(row).join()}}`)
  await sql`
    INSERT INTO experiment_conversations (organization_id, experiment_id, conversation_id, arm, other_version_id,
      unit_id, is_alone, started_at, company_id, direction, added_at, retried_at, is_pending, statuses, observed)
    SELECT ${org}, ${experimentId}, c.id, c.arm, c.other_version_id, c.unit_id, c.is_alone, c.started_at, c.company_id,
      c.direction, c.added_at, c.retried_at, c.is_pending, c.statuses::smallint[], c.observed::float8[]
    FROM unnest(${rows.map((row) => row.conversationId)}::uuid[], ${rows.map(({ arm }) => arm)}::text[],
      ${rows.map((row) => row.otherVersionId)}::uuid[], ${rows.map(({ unitId }) => unitId)}::uuid[],
      ${rows.map(({ isAlone }) => isAlone)}::boolean[], ${rows.map(({ startedAt }) => startedAt)}::timestamptz[],
      ${rows.map(({ companyId }) => companyId)}::uuid[], ${rows.map(({ direction }) => direction)}::text[],
      ${rows.map(({ addedAt }) => addedAt)}::timestamptz[], ${rows.map(({ retriedAt }) => retriedAt)}::timestamptz[],
      ${rows.map(({ isPending }) => isPending)}::boolean[], ${arrays(({ statuses }) => statuses)}::text[],
      ${arrays(({ observed }) => observed)}::text[])
      AS c (id, arm, other_version_id, unit_id, is_alone, started_at, company_id, direction, added_at, retried_at,
        is_pending, statuses, observed)
    ON CONFLICT ON CONSTRAINT experiment_conversations_pkey DO UPDATE SET
      arm = excluded.arm, other_version_id = excluded.other_version_id, unit_id = excluded.unit_id,
      is_alone = excluded.is_alone, company_id = excluded.company_id, direction = excluded.direction,
      is_pending = excluded.is_pending, statuses = excluded.statuses, observed = excluded.observed`.execute(trx)
}

export const deleteCounted = async (trx: Db, org: OrgId, experimentId: string, ids: string[]) => {
  if (ids.length === 0) return
  await trx
    .deleteFrom('experiment_conversations')
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}

/** A unit's numbers in a fixed order, without trailing zeros, so that most units store one of a few short lists. */
export type StoredTotals = (number | string)[]

export type StoredUnit = {
  id: string
  conversationsA: number
  conversationsB: number
  firstArm: Arm
  firstAt: Date
  /** The totals of each outcome, by its position, with one entry for each arm. */
  held: [a: StoredTotals, b: StoredTotals][]
}

export const listUnits = (trx: Db, org: OrgId, experimentId: string, ids: string[]): Promise<StoredUnit[]> =>
  trx
    .selectFrom('experiment_units')
    .select([
      'id',
      'conversations_a as conversationsA',
      'conversations_b as conversationsB',
      sql<Arm>`first_arm`.as('firstArm'),
      'first_at as firstAt',
      sql<StoredUnit['held']>`held`.as('held'),
    ])
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

export type First = { id: string; arm: Arm; startedAt: Date }

/** Returns the earliest counted conversation of each unit. */
export const listFirst = async (trx: Db, org: OrgId, experimentId: string, unitIds: string[]): Promise<First[]> => {
  if (unitIds.length === 0) return []
  // A new experiment's rows have no statistics yet. Without this setting, PostgreSQL would sort all rows for each unit.
  await sql`SET LOCAL enable_sort = off`.execute(trx)
  const { rows } = await sql<First>`
    SELECT u.id, f.arm, f.started_at AS "startedAt"
    FROM unnest(${unitIds}::uuid[]) AS u (id)
    CROSS JOIN LATERAL (
      SELECT c.arm, c.started_at FROM experiment_conversations c
      WHERE c.organization_id = ${org} AND c.experiment_id = ${experimentId} AND c.unit_id = u.id AND c.arm IS NOT NULL
      ORDER BY c.started_at, c.conversation_id LIMIT 1) f ${sql.raw(plannedEachTime)}`.execute(trx)
  await sql`SET LOCAL enable_sort = on`.execute(trx)
  return rows
}

export const upsertUnits = async (trx: Db, org: OrgId, experimentId: string, units: StoredUnit[]) => {
  if (units.length === 0) return
  await sql`
    INSERT INTO experiment_units (organization_id, experiment_id, id, conversations_a, conversations_b, first_arm,
      first_at, held)
    SELECT ${org}, ${experimentId}, u.* FROM unnest(${units.map(({ id }) => id)}::uuid[],
      ${units.map(({ conversationsA }) => conversationsA)}::integer[],
      ${units.map(({ conversationsB }) => conversationsB)}::integer[], ${units.map(({ firstArm }) => firstArm)}::text[],
      ${units.map(({ firstAt }) => firstAt)}::timestamptz[],
      ${units.map(({ held }) => JSON.stringify(held))}::json[]) AS u
    ON CONFLICT ON CONSTRAINT experiment_units_pkey DO UPDATE SET
      conversations_a = excluded.conversations_a, conversations_b = excluded.conversations_b,
      first_arm = excluded.first_arm, first_at = excluded.first_at, held = excluded.held`.execute(trx)
}

export const deleteUnits = async (trx: Db, org: OrgId, experimentId: string, ids: string[]) => {
  if (ids.length === 0) return
  await trx
    .deleteFrom('experiment_units')
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}

export type DimensionSplit = { dimension: string; value: string; a: number; b: number }

/** Adds to the counts, and deletes the counts that become zero. */
export const addToSplits = async (trx: Db, org: OrgId, experimentId: string, changes: DimensionSplit[]) => {
  if (changes.length === 0) return
  await sql`
    INSERT INTO experiment_splits AS s (organization_id, experiment_id, dimension, value, a, b)
    SELECT ${org}, ${experimentId}, c.* FROM unnest(${changes.map(({ dimension }) => dimension)}::text[],
      ${changes.map(({ value }) => value)}::text[], ${changes.map(({ a }) => a)}::integer[],
      ${changes.map(({ b }) => b)}::integer[]) AS c
    ON CONFLICT ON CONSTRAINT experiment_splits_pkey DO UPDATE SET a = s.a + excluded.a, b = s.b + excluded.b`.execute(
    trx,
  )
  await sql`
    DELETE FROM experiment_splits WHERE organization_id = ${org} AND experiment_id = ${experimentId} AND a = 0 AND b = 0
      AND (dimension, value) IN (SELECT * FROM unnest(${changes.map(({ dimension }) => dimension)}::text[],
        ${changes.map(({ value }) => value)}::text[]))`.execute(trx)
}

/** These dimensions can have very many values. */
const manifold = ['company', 'other-version']
const mostOfEach = 200

/** Lists the counts. For companies and other versions, lists only the largest ones. */
export const listSplits = async (db: Db, org: OrgId, experimentId: string): Promise<DimensionSplit[]> => {
  const { rows } = await sql<DimensionSplit>`
    (SELECT dimension, value, a, b FROM experiment_splits
      WHERE organization_id = ${org} AND experiment_id = ${experimentId} AND dimension <> ALL(${manifold}::text[])
      ORDER BY dimension, value)
    UNION ALL
    SELECT large.* FROM unnest(${manifold}::text[]) AS d (dimension) CROSS JOIN LATERAL (
      SELECT s.dimension, s.value, s.a, s.b FROM experiment_splits s
      WHERE s.organization_id = ${org} AND s.experiment_id = ${experimentId} AND s.dimension = d.dimension
      ORDER BY s.a + s.b DESC LIMIT ${mostOfEach}) large`.execute(db)
  return rows
}

export type OutcomeChange = {
  position: number
  /** The sums in the format of `storeOutcome`. */
  sums: string
  largestEValue: number
  leastP: number
  firstExcludedZeroAt: Date | null
  /** Undefined if the timeline has no new point. */
  timeline: StoredPoint[] | undefined
}

export const updateOutcomes = async (trx: Db, org: OrgId, experimentId: string, changes: OutcomeChange[]) => {
  if (changes.length === 0) return
  await sql`
    UPDATE experiment_outcomes o SET sums = c.sums, largest_e_value = c.largest_e_value, least_p = c.least_p,
      first_excluded_zero_at = c.first_excluded_zero_at, timeline = coalesce(c.timeline, o.timeline)
    FROM unnest(${changes.map(({ position }) => position)}::smallint[], ${changes.map(({ sums }) => sums)}::json[],
      ${changes.map(({ largestEValue }) => largestEValue)}::float8[], ${changes.map(({ leastP }) => leastP)}::float8[],
      ${changes.map(({ firstExcludedZeroAt }) => firstExcludedZeroAt)}::timestamptz[],
      ${changes.map(({ timeline }) => (timeline ? JSON.stringify(timeline) : null))}::json[])
      AS c (position, sums, largest_e_value, least_p, first_excluded_zero_at, timeline)
    WHERE o.organization_id = ${org} AND o.experiment_id = ${experimentId} AND o.position = c.position`.execute(trx)
}

type ExperimentChange = { leastSplitP: number; countedAt: Date; alarmedAt: Date | null }

export const updateInterimAnalysis = (
  trx: Db,
  org: OrgId,
  id: string,
  { leastSplitP, countedAt, alarmedAt }: ExperimentChange,
) =>
  trx
    .updateTable('experiments')
    .set({ least_split_p: leastSplitP, counted_at: countedAt, alarmed_at: alarmedAt })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
