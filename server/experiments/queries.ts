import { sql } from 'kysely'
import type { Plain } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type ExperimentStatus = 'running' | 'finished'
type AssignmentUnit = { kind: 'auto' | 'metadata'; key?: string }
type Operator = NonNullable<Plain['metadata']>[number]['op']
type CohortFilter = {
  field: 'metadata' | 'channel' | 'direction' | 'companyId'
  key?: string
  op: Operator
  value?: string
}

/**
 * The measure of an outcome, if it isn't the monitor's result. The label is the name that the category had at launch.
 */
export type StoredMeasure = { kind: 'category'; category: string; label: string } | { kind: 'field'; field: string }

type Range = { low: number; high: number } | null
type MeasuredOutcome = { monitorId: string; measure: StoredMeasure | null; range: Range }

const rangeOf = sql<Range>`CASE WHEN range_low IS NOT NULL
  THEN json_build_object('low', range_low, 'high', range_high) END`

const columnsOf = (org: OrgId) =>
  [
    'e.id',
    'e.name',
    'e.description',
    sql<ExperimentStatus>`e.status`.as('status'),
    'e.agent_id as agentId',
    'e.arm_a_version_id as armAVersionId',
    'e.arm_b_version_id as armBVersionId',
    'e.arm_a_name as armAName',
    'e.arm_b_name as armBName',
    sql<CohortFilter[]>`e.cohort_filters`.as('cohortFilters'),
    sql<AssignmentUnit>`e.assignment_unit`.as('assignmentUnit'),
    'e.expected_arm_a_percent as expectedArmAPercent',
    'e.monitor_group_id as monitorGroupId',
    'e.emails',
    'e.alpha',
    'e.tuning_conversations as tuningConversations',
    'e.started_at as startedAt',
    'e.finished_at as finishedAt',
    'e.finished_by_user_id as finishedByUserId',
    'e.created_by_user_id as createdByUserId',
    'e.least_split_p as leastSplitP',
    'e.alarmed_at as alarmedAt',
    'e.counted_at as countedAt',
    sql<string[]>`ARRAY(SELECT o.monitor_id FROM experiment_outcomes o
    WHERE o.organization_id = ${org} AND o.experiment_id = e.id
    GROUP BY o.monitor_id ORDER BY min(o.position))`.as('outcomeMetricIds'),
    sql<MeasuredOutcome[]>`(SELECT coalesce(json_agg(json_build_object('monitorId', o.monitor_id, 'measure', o.measure,
      'range', ${rangeOf}) ORDER BY o.position), '[]')
    FROM experiment_outcomes o WHERE o.organization_id = ${org} AND o.experiment_id = e.id)`.as('measures'),
    sql<string>`(SELECT o.monitor_id FROM experiment_outcomes o
    WHERE o.organization_id = ${org} AND o.experiment_id = e.id AND o.is_primary)`.as('primaryMetricId'),
  ] as const

const selectExperiments = (db: Db, org: OrgId) =>
  db.selectFrom('experiments as e').select(columnsOf(org)).where('e.organization_id', '=', org)

export type StoredExperiment = Awaited<ReturnType<typeof getExperiment>>

export const getExperiment = (db: Db, org: OrgId, id: string) =>
  selectExperiments(db, org).where('e.id', '=', id).executeTakeFirstOrThrow(notFound)

type ExperimentFilter = { status?: ExperimentStatus; agentId?: string }

export const listExperiments = (db: Db, org: OrgId, { status, agentId }: ExperimentFilter, page: Page) =>
  selectExperiments(db, org)
    .$if(status !== undefined, (query) => query.where('e.status', '=', status as string))
    .$if(agentId !== undefined, (query) => query.where('e.agent_id', '=', agentId as string))
    .$call(newestFirst('e.id', page))
    .execute()

export const countRunning = async (db: Db, org: OrgId, agentId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('experiments')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  return count
}

/** Locks the experiment. Waits until counting finishes, and blocks new counting. */
export const lockExperiment = async (trx: Db, org: OrgId, id: string) => {
  await trx
    .selectFrom('experiments')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(notFound)
  return getExperiment(trx, org, id)
}

/** Returns other running experiments that share a version with this one. */
export const listOverlapping = (db: Db, org: OrgId, { id, armAVersionId, armBVersionId }: StoredExperiment) => {
  const versions = [armAVersionId, armBVersionId]
  return db
    .selectFrom('experiments')
    .select(['id', 'name'])
    .where('organization_id', '=', org)
    .where('id', '<>', id)
    .where('status', '=', 'running')
    .where(({ or, eb }) => or([eb('arm_a_version_id', 'in', versions), eb('arm_b_version_id', 'in', versions)]))
    .orderBy('id')
    .limit(20)
    .execute()
}

/**
 * Waits for conversations of the agent that are being stored, and blocks new ones until the transaction ends. So each
 * conversation is either stored before the experiment or sees it. Storing a conversation locks its agent through the
 * foreign key.
 */
export const lockArrivals = (trx: Db, org: OrgId, agentId: string) =>
  trx
    .selectFrom('agents')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', agentId)
    .forUpdate()
    .execute()

/**
 * Lists the agent's conversations that started after `since`. A conversation can be stored shortly before its start
 * time.
 */
export const listBegunSince = async (trx: Db, org: OrgId, agentId: string, since: Date): Promise<string[]> => {
  const rows = await trx
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('agent_id', '=', agentId)
    .where('started_at', '>=', since)
    .execute()
  return rows.map(({ id }) => id)
}

export type NewExperiment = {
  id: string
  name: string
  description: string | null
  agentId: string
  armAVersionId: string
  armBVersionId: string
  armAName: string | null
  armBName: string | null
  cohortFilters: CohortFilter[]
  assignmentUnit: AssignmentUnit
  expectedArmAPercent: number | null
  monitorGroupId: string | null
  emails: string[]
  alpha: number
  tuningConversations: number
  startedAt: Date
  createdByUserId: string
}

export const insertExperiment = (trx: Db, org: OrgId, made: NewExperiment) =>
  trx
    .insertInto('experiments')
    .values({
      organization_id: org,
      id: made.id,
      name: made.name,
      description: made.description,
      agent_id: made.agentId,
      arm_a_version_id: made.armAVersionId,
      arm_b_version_id: made.armBVersionId,
      arm_a_name: made.armAName,
      arm_b_name: made.armBName,
      cohort_filters: JSON.stringify(made.cohortFilters),
      assignment_unit: JSON.stringify(made.assignmentUnit),
      expected_arm_a_percent: made.expectedArmAPercent,
      monitor_group_id: made.monitorGroupId,
      emails: made.emails,
      alpha: made.alpha,
      tuning_conversations: made.tuningConversations,
      status: 'running' satisfies ExperimentStatus,
      started_at: made.startedAt,
      counted_at: made.startedAt,
      created_by_user_id: made.createdByUserId,
    })
    .execute()

export type NewOutcome = {
  monitorId: string
  monitorVersion: number
  monitorName: string
  monitorKind: 'rule' | 'judge' | 'external' | 'scorecard'
  isPrimary: boolean
  scope: Plain
  kind: 'boolean' | 'numeric'
  range: Range
  /** Null if the monitor's result is measured. */
  measure: StoredMeasure | null
}

type NewOutcomes = { experimentId: string; outcomes: NewOutcome[]; sums: string }

/** Inserts the outcomes of an experiment, with empty sums. */
export const insertOutcomes = (trx: Db, org: OrgId, { experimentId, outcomes, sums }: NewOutcomes) =>
  trx
    .insertInto('experiment_outcomes')
    .values(
      outcomes.map((outcome, position) => ({
        organization_id: org,
        experiment_id: experimentId,
        position,
        monitor_id: outcome.monitorId,
        monitor_version: outcome.monitorVersion,
        monitor_name: outcome.monitorName,
        monitor_kind: outcome.monitorKind,
        is_primary: outcome.isPrimary,
        scope: JSON.stringify(outcome.scope),
        kind: outcome.kind,
        range_low: outcome.range?.low ?? null,
        range_high: outcome.range?.high ?? null,
        measure: outcome.measure && JSON.stringify(outcome.measure),
        sums,
      })),
    )
    .execute()

const pinnedColumns = [
  'position',
  'monitor_id as monitorId',
  'monitor_version as monitorVersion',
  sql<NewOutcome['monitorKind']>`monitor_kind`.as('monitorKind'),
  sql<Plain>`scope`.as('scope'),
  sql<StoredMeasure | null>`measure`.as('measure'),
] as const

/** Lists the pinned outcomes without the long results column. */
export const listPinned = (db: Db, org: OrgId, experimentId: string) =>
  db
    .selectFrom('experiment_outcomes')
    .select(pinnedColumns)
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .orderBy('position')
    .execute()

export type PinnedOutcome = Awaited<ReturnType<typeof listPinned>>[number]

export const listOutcomes = (db: Db, org: OrgId, experimentId: string) =>
  db
    .selectFrom('experiment_outcomes')
    .select([
      ...pinnedColumns,
      'monitor_name as monitorName',
      'is_primary as isPrimary',
      sql<NewOutcome['kind']>`kind`.as('kind'),
      rangeOf.as('range'),
      sql<unknown>`sums`.as('sums'),
      'largest_e_value as largestEValue',
      'least_p as leastP',
      'first_excluded_zero_at as firstExcludedZeroAt',
      sql<StoredPoint[]>`timeline`.as('timeline'),
    ])
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .orderBy('position')
    .execute()

export type StoredOutcome = Awaited<ReturnType<typeof listOutcomes>>[number]

/**
 * A point on the timeline: its time, the counts and means of both arms, the difference with its interval and p-value,
 * and the p-value of the split.
 */
export type StoredPoint = [
  at: number,
  observedA: number,
  observedB: number,
  meanA: number | null,
  meanB: number | null,
  difference: number | null,
  low: number | null,
  high: number | null,
  p: number,
  splitP: number | null,
]

type End = { finishedAt: Date; finishedByUserId: string }

/** Finishes an experiment that the caller has locked. */
export const finishExperiment = (trx: Db, org: OrgId, id: string, { finishedAt, finishedByUserId }: End) =>
  trx
    .updateTable('experiments')
    .set({ status: 'finished', finished_at: finishedAt, finished_by_user_id: finishedByUserId })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

/**
 * Returns an experiment that still accepts results of a monitor version with this model provider, or of a scorecard
 * version that has pinned such a version.
 */
export const findExperimentOfProvider = async (db: Db, org: OrgId, providerId: string) => {
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT e.id, e.name FROM experiments e
    JOIN experiment_outcomes o ON o.organization_id = ${org} AND o.experiment_id = e.id
    JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = o.monitor_id AND v.number = o.monitor_version
    WHERE e.organization_id = ${org}
      AND (lower(v.definition ->> 'model') LIKE ${`${providerId}/%`}
        OR (o.monitor_kind = 'scorecard' AND EXISTS (
          SELECT 1 FROM monitor_versions i
          WHERE i.organization_id = ${org} AND lower(i.definition ->> 'model') LIKE ${`${providerId}/%`}
            AND jsonb_path_exists(v.definition, '$.sections[*].items[*] ? (@.monitorId == $id && @.version == $number)',
              jsonb_build_object('id', i.monitor_id, 'number', i.number)))))
      AND EXISTS (SELECT 1 FROM experiment_runs r
        WHERE r.organization_id = ${org} AND r.experiment_id = e.id AND r.status IN ('queued', 'running'))
    ORDER BY e.id LIMIT 1`.execute(db)
  return rows[0]
}

const usesMonitor = (org: OrgId, monitorId: string) => sql<boolean>`(o.monitor_id = ${monitorId}::uuid
  OR (o.monitor_kind = 'scorecard' AND EXISTS (
    SELECT 1 FROM monitor_versions v
    WHERE v.organization_id = ${org} AND v.monitor_id = o.monitor_id AND v.number = o.monitor_version
      AND jsonb_path_query_array(v.definition, '$.sections[*].items[*].monitorId') ? ${monitorId})))`

/**
 * Returns the experiments that measure a monitor, or a scorecard that uses it, including finished experiments that
 * still accept late results. Experiments that measure the monitor itself come first.
 */
export const listExperimentsOfMonitor = (db: Db, org: OrgId, monitorId: string) =>
  db
    .selectFrom('experiments as e')
    .innerJoin('experiment_outcomes as o', (join) =>
      join.onRef('o.organization_id', '=', 'e.organization_id').onRef('o.experiment_id', '=', 'e.id'),
    )
    .select([
      'e.id',
      'e.name',
      sql<ExperimentStatus>`e.status`.as('status'),
      sql<boolean>`bool_and(o.monitor_id <> ${monitorId}::uuid)`.as('isByScorecard'),
    ])
    .where('e.organization_id', '=', org)
    .where(usesMonitor(org, monitorId))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('experiment_runs as r')
          .select('r.id')
          .where('r.organization_id', '=', org)
          .whereRef('r.experiment_id', '=', 'e.id')
          .where('r.status', 'in', ['queued', 'running']),
      ),
    )
    .groupBy(['e.id', 'e.name', 'e.status'])
    .orderBy('isByScorecard')
    .orderBy('e.id')
    .execute()
