import { sql } from 'kysely'
import type { RunStatus } from '../../evaluations/runs/run-status.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { newestFirst, nextRows } from '../../platform/db/pages.ts'
import type { Page } from '../../platform/http/paging.ts'
import { failed, missing, pending } from '../observations/unit-totals.ts'

type Trigger = 'launch' | 'retry'

const columns = [
  'id',
  sql<Trigger>`trigger`.as('trigger'),
  sql<RunStatus>`status`.as('status'),
  'failure',
  'total',
  'scored',
  'unscored',
  'failed',
  'after_id as afterId',
  'waits',
  'created_at as createdAt',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const

const selectRuns = (db: Db, org: OrgId, experimentId: string) =>
  db
    .selectFrom('experiment_runs')
    .select(columns)
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)

export type RetryRun = Awaited<ReturnType<typeof listRuns>>[number]

export const listRuns = (db: Db, org: OrgId, experimentId: string, page: Page) =>
  selectRuns(db, org, experimentId).$call(newestFirst('id', page)).execute()

/** Lists the start and end times of all runs. */
export const listRunTimes = (db: Db, org: OrgId, experimentId: string) =>
  db
    .selectFrom('experiment_runs')
    .select([sql<Trigger>`trigger`.as('trigger'), 'created_at as createdAt', 'finished_at as finishedAt'])
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .execute()

export const listUnfinishedRuns = (db: Db, org: OrgId, experimentId: string) =>
  selectRuns(db, org, experimentId).where('status', 'in', ['queued', 'running']).execute()

export const findRun = (db: Db, org: OrgId, experimentId: string, id: string) =>
  selectRuns(db, org, experimentId).where('id', '=', id).executeTakeFirst()

export const lockRun = (trx: Db, org: OrgId, experimentId: string, id: string) =>
  selectRuns(trx, org, experimentId).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()

type NewRun = {
  id: string
  experimentId: string
  trigger: Trigger
  status: RunStatus
  total: number
  createdByUserId: string
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}

/** Inserts a run. The caller has locked the experiment and knows that no run with this trigger is unfinished. */
export const insertRun = (trx: Db, org: OrgId, run: NewRun) =>
  trx
    .insertInto('experiment_runs')
    .values({
      organization_id: org,
      experiment_id: run.experimentId,
      id: run.id,
      trigger: run.trigger,
      status: run.status,
      total: run.total,
      created_by_user_id: run.createdByUserId,
      created_at: run.createdAt,
      started_at: run.startedAt,
      finished_at: run.finishedAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

type RunChange = {
  status?: RunStatus
  failure?: string | null
  total?: number
  waits?: number
  startedAt?: Date
  finishedAt?: Date
}

/** Updates a run. The caller has locked the run or the experiment. */
export const updateRun = (trx: Db, org: OrgId, experimentId: string, id: string, change: RunChange) =>
  trx
    .updateTable('experiment_runs')
    .set({
      ...(change.status !== undefined && { status: change.status }),
      ...(change.failure !== undefined && { failure: change.failure }),
      ...(change.total !== undefined && { total: change.total }),
      ...(change.waits !== undefined && { waits: change.waits }),
      ...(change.startedAt !== undefined && { started_at: change.startedAt }),
      ...(change.finishedAt !== undefined && { finished_at: change.finishedAt }),
    })
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('id', '=', id)
    .execute()

type Progress = { scored: number; unscored: number; failed: number; afterId: string }

/** Updates a run that the caller has locked. Any progress resets the number of pauses. */
export const advanceRun = (trx: Db, org: OrgId, experimentId: string, id: string, progress: Progress) =>
  trx
    .updateTable('experiment_runs')
    .set(({ eb }) => ({
      scored: eb('scored', '+', progress.scored),
      unscored: eb('unscored', '+', progress.unscored),
      failed: eb('failed', '+', progress.failed),
      after_id: progress.afterId,
      waits: 0,
    }))
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('id', '=', id)
    .execute()

type Lacking = { positions: number[]; afterId: string | null; since: Date; limit: number }

/** Lists the next conversations that lack one of these observations, or that were retried and still have no result. */
export const listLacking = (db: Db, org: OrgId, experimentId: string, { positions, afterId, since, limit }: Lacking) =>
  db
    .selectFrom('experiment_conversations')
    .select(['conversation_id as id', 'started_at as startedAt', 'retried_at as retriedAt', 'statuses'])
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .$if(afterId !== null, (query) => query.where('conversation_id', '>', afterId as string))
    .where(sql<boolean>`EXISTS (
      SELECT 1 FROM unnest(${positions}::integer[]) AS p (position)
      WHERE statuses[p.position + 1] = ANY(${[missing, failed]}::smallint[])
        OR retried_at >= ${since} AND statuses[p.position + 1] = ${pending})`)
    .orderBy('conversation_id')
    .limit(limit)
    .execute()

export const markRetried = (trx: Db, org: OrgId, experimentId: string, ids: string[], at: Date) =>
  trx
    .updateTable('experiment_conversations')
    .set({ retried_at: at })
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

type Waiting = { addedBefore?: Date; retriedSince?: Date }

/** Lists pending conversations that were counted before a time, or retried after a time. */
export const listAwaited = (db: Db, org: OrgId, experimentId: string, { addedBefore, retriedSince }: Waiting) =>
  db
    .selectFrom('experiment_conversations')
    .select('conversation_id as id')
    .where('organization_id', '=', org)
    .where('experiment_id', '=', experimentId)
    .where('is_pending', '=', true)
    .$if(addedBefore !== undefined, (query) => query.where('added_at', '<', addedBefore as Date))
    .$if(retriedSince !== undefined, (query) => query.where('retried_at', '>=', retriedSince as Date))
    .execute()

/** Selects active experiments: running ones, and finished ones that still accept late results. */
const selectOpenAllOrgs = (db: Db) =>
  db
    .selectFrom('experiment_runs as r')
    .innerJoin('experiments as e', (join) =>
      join.onRef('e.organization_id', '=', 'r.organization_id').onRef('e.id', '=', 'r.experiment_id'),
    )
    .where('r.trigger', '=', 'launch')
    .where('r.status', 'in', ['queued', 'running'])

export const listOrganizationsWithOpenAllOrgs = (db: Db) =>
  selectOpenAllOrgs(db).select(sql<OrgId>`e.organization_id`.as('id')).distinct().execute()

export const listOpen = (db: Db, org: OrgId, page: Page) =>
  selectOpenAllOrgs(db)
    .select(['e.id', 'e.finished_at as finishedAt'])
    .where('e.organization_id', '=', org)
    .$call(nextRows('e.id', page))
    .execute()
