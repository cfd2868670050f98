import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

const columns = [
  'id',
  'name',
  sql<number>`attempt - uncounted`.as('attemptCount'),
  sql<string>`coalesce(error, '')`.as('error'),
  // A failed job always has an end time.
  sql<Date>`ended_at`.as('failedAt'),
  'created_at as createdAt',
] as const

export const listFailedJobs = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('jobs')
    .select(columns)
    .where('organization_id', '=', org)
    .where('state', '=', 'dead')
    .$call(newestFirst('id', page))
    .execute()

export const lockFailedJob = (trx: Db, org: OrgId, id: string) =>
  trx
    .selectFrom('jobs')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('state', '=', 'dead')
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

/** Restarts a failed job with its full number of attempts. It is due immediately. */
export const restartFailedJob = (trx: Db, org: OrgId, id: string, now: Date) =>
  trx
    .updateTable('jobs')
    .set({ state: 'waiting', ended_at: null, due_at: now, uncounted: sql<number>`attempt` })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

export const deleteFailedJob = (trx: Db, org: OrgId, id: string) =>
  trx.deleteFrom('jobs').where('organization_id', '=', org).where('id', '=', id).where('state', '=', 'dead').execute()
