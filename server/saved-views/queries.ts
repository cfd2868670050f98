import { sql } from 'kysely'
import type { Selection } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Column = { key: string; width?: number }
type Sort = { by: string; direction: 'asc' | 'desc' }

const columnsFor = (org: OrgId, userId: string) =>
  [
    'v.id',
    'v.name',
    sql<Selection>`v.filter`.as('filter'),
    sql<Column[] | null>`v.columns`.as('columns'),
    sql<Sort | null>`v.sort`.as('sort'),
    'v.shared',
    sql<boolean>`EXISTS (
      SELECT 1 FROM default_views d
      WHERE d.organization_id = ${org} AND d.user_id = ${userId}::uuid AND d.saved_view_id = v.id)`.as('isDefault'),
    'v.created_by_user_id as createdByUserId',
    'v.created_at as createdAt',
    'v.updated_at as updatedAt',
  ] as const

/** Matches the views that a person can see. A personal view is only visible to its creator. */
const seenBy = (userId: string) => sql<boolean>`(shared OR created_by_user_id = ${userId}::uuid)`

const selectViews = (db: Db, org: OrgId, userId: string) =>
  db
    .selectFrom('saved_views as v')
    .select(columnsFor(org, userId))
    .where('v.organization_id', '=', org)
    .where(seenBy(userId))

export const listSavedViews = (db: Db, org: OrgId, userId: string, page: Page) =>
  selectViews(db, org, userId).$call(newestFirst('v.id', page)).execute()

export const getSavedView = (db: Db, org: OrgId, userId: string, id: string) =>
  selectViews(db, org, userId).where('v.id', '=', id).executeTakeFirstOrThrow(notFound)

/** Locks a view until the transaction ends. */
export const lockSavedView = (trx: Db, org: OrgId, userId: string, id: string) =>
  trx
    .selectFrom('saved_views')
    .select(['shared', 'created_by_user_id as createdByUserId'])
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where(seenBy(userId))
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

const names = new Set(['saved_views_name_key', 'saved_views_own_name_key'])

const nameTaken = (error: unknown): never => {
  if (names.has(violatedConstraint(error) ?? '')) {
    throw new ApiError('conflict', 'Another saved view has this name.')
  }
  throw error
}

type NewView = {
  id: string
  name: string
  filter: Selection
  columns: Column[] | null
  sort: Sort | null
  shared: boolean
}

const jsonOrNull = (value: unknown) => (value === null ? null : JSON.stringify(value))

export const insertSavedView = (
  db: Db,
  org: OrgId,
  userId: string,
  { id, name, filter, columns, sort, shared }: NewView,
) =>
  db
    .insertInto('saved_views')
    .values({
      organization_id: org,
      id,
      name,
      filter: JSON.stringify(filter),
      columns: jsonOrNull(columns),
      sort: jsonOrNull(sort),
      shared,
      created_by_user_id: userId,
    })
    .execute()
    .catch(nameTaken)

export type ViewChange = Partial<Omit<NewView, 'id'>>

export const updateSavedView = (db: Db, org: OrgId, id: string, { name, filter, columns, sort, shared }: ViewChange) =>
  db
    .updateTable('saved_views')
    .set({
      ...(name !== undefined && { name }),
      ...(filter !== undefined && { filter: JSON.stringify(filter) }),
      ...(columns !== undefined && { columns: jsonOrNull(columns) }),
      ...(sort !== undefined && { sort: jsonOrNull(sort) }),
      ...(shared !== undefined && { shared }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
    .catch(nameTaken)

/** Sets a person's default view, which replaces an earlier one. */
export const setDefaultView = (db: Db, org: OrgId, userId: string, id: string) =>
  db
    .insertInto('default_views')
    .values({ organization_id: org, user_id: userId, saved_view_id: id })
    .onConflict((conflict) =>
      conflict
        .constraint('default_views_pkey')
        .doUpdateSet(({ ref }) => ({ saved_view_id: ref('excluded.saved_view_id') })),
    )
    .execute()

export const clearDefaultView = (db: Db, org: OrgId, userId: string, id: string) =>
  db
    .deleteFrom('default_views')
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .where('saved_view_id', '=', id)
    .execute()

/** Removes a view that became personal as the default of other people. */
export const clearDefaultOfOthers = (db: Db, org: OrgId, userId: string, id: string) =>
  db
    .deleteFrom('default_views')
    .where('organization_id', '=', org)
    .where('saved_view_id', '=', id)
    .where('user_id', '<>', userId)
    .execute()

export const deleteSavedView = (db: Db, org: OrgId, userId: string, id: string) =>
  db
    .deleteFrom('saved_views')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where(seenBy(userId))
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

/** Deletes a person's personal views and default. */
export const deleteViewsOf = async (db: Db, org: OrgId, userId: string): Promise<void> => {
  await db.deleteFrom('default_views').where('organization_id', '=', org).where('user_id', '=', userId).execute()
  await db
    .deleteFrom('saved_views')
    .where('organization_id', '=', org)
    .where('created_by_user_id', '=', userId)
    .where('shared', '=', false)
    .execute()
}
