import type { Db, OrgId } from '../../platform/db/database.ts'
import { violatedConstraint } from '../../platform/db/errors.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

const columns = [
  'id',
  'name',
  'monitor_ids as metricIds',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

const selectGroups = (db: Db, org: OrgId) =>
  db.selectFrom('monitor_groups').select(columns).where('organization_id', '=', org)

export const listGroups = (db: Db, org: OrgId, page: Page) =>
  selectGroups(db, org).$call(newestFirst('id', page)).execute()

export const getGroup = (db: Db, org: OrgId, id: string) =>
  selectGroups(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

/** Locks a group against changes until the transaction ends. Returns undefined if it does not exist. */
export const lockGroupShared = (trx: Db, org: OrgId, id: string) =>
  selectGroups(trx, org).where('id', '=', id).forShare().executeTakeFirst()

const explain = (error: unknown): never => {
  if (violatedConstraint(error) !== 'monitor_groups_name_key') throw error
  throw new ApiError('conflict', 'Another monitor group has this name.')
}

type NewGroup = { id: string; name: string; metricIds: string[] }

export const insertGroup = (trx: Db, org: OrgId, { id, name, metricIds }: NewGroup) =>
  trx
    .insertInto('monitor_groups')
    .values({ organization_id: org, id, name, monitor_ids: metricIds })
    .execute()
    .catch(explain)

type GroupChange = { name?: string; metricIds?: string[] }

export const updateGroup = (trx: Db, org: OrgId, id: string, { name, metricIds }: GroupChange, now: Date) =>
  trx
    .updateTable('monitor_groups')
    .set({
      ...(name !== undefined && { name }),
      ...(metricIds !== undefined && { monitor_ids: metricIds }),
      updated_at: now,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)
    .catch(explain)

/** Deletes a group, and removes it from the experiments that were launched in it. */
export const deleteGroup = async (trx: Db, org: OrgId, id: string) => {
  // The lock waits for launches with this group and blocks new ones.
  await selectGroups(trx, org).where('id', '=', id).forUpdate().executeTakeFirstOrThrow(notFound)
  await trx
    .updateTable('experiments')
    .set({ monitor_group_id: null })
    .where('organization_id', '=', org)
    .where('monitor_group_id', '=', id)
    .execute()
  return trx
    .deleteFrom('monitor_groups')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow()
}
