import { sql } from 'kysely'
import type { Selection } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

const columns = [
  'id',
  'name',
  sql<Selection>`filter`.as('filter'),
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export const listSavedViews = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('saved_views')
    .select(columns)
    .where('organization_id', '=', org)
    .$call(newestFirst('id', page))
    .execute()

export const getSavedView = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('saved_views')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

const nameTaken = (error: unknown): never => {
  if (violatedConstraint(error) === 'saved_views_name_key') {
    throw new ApiError('conflict', 'Another saved view has this name.')
  }
  throw error
}

type NewView = { id: string; name: string; filter: Selection; createdByUserId: string }

export const insertSavedView = (db: Db, org: OrgId, { id, name, filter, createdByUserId }: NewView) =>
  db
    .insertInto('saved_views')
    .values({ organization_id: org, id, name, filter: JSON.stringify(filter), created_by_user_id: createdByUserId })
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(nameTaken)

type ViewChange = { name?: string; filter?: Selection }

export const updateSavedView = (db: Db, org: OrgId, id: string, { name, filter }: ViewChange) =>
  db
    .updateTable('saved_views')
    .set({
      ...(name !== undefined && { name }),
      ...(filter !== undefined && { filter: JSON.stringify(filter) }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)
    .catch(nameTaken)

export const deleteSavedView = (db: Db, org: OrgId, id: string) =>
  db
    .deleteFrom('saved_views')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)
