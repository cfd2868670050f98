import { sql } from 'kysely'
import type { Selection } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type CompareTo = 'previous_period' | 'previous_year'

/** The charts in the format of the resource's schema. */
type StoredCharts = object[]

const columns = [
  'id',
  'name',
  'description',
  sql<Selection>`filter`.as('filter'),
  sql<CompareTo | null>`compare_to`.as('compareTo'),
  sql<StoredCharts>`charts`.as('charts'),
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export const listBoards = (db: Db, org: OrgId, page: Page) =>
  db.selectFrom('boards').select(columns).where('organization_id', '=', org).$call(newestFirst('id', page)).execute()

export const getBoard = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('boards')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

export type BoardFields = {
  name: string
  description: string | null
  filter: Selection
  compareTo: CompareTo | null
  charts: StoredCharts
}

type NewBoard = BoardFields & { id: string; createdByUserId: string }

export const insertBoard = (db: Db, org: OrgId, { id, createdByUserId, ...fields }: NewBoard) =>
  db
    .insertInto('boards')
    .values({
      organization_id: org,
      id,
      name: fields.name,
      description: fields.description,
      filter: JSON.stringify(fields.filter),
      compare_to: fields.compareTo,
      charts: JSON.stringify(fields.charts),
      created_by_user_id: createdByUserId,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const updateBoard = (db: Db, org: OrgId, id: string, fields: Partial<BoardFields>) =>
  db
    .updateTable('boards')
    .set({
      ...(fields.name !== undefined && { name: fields.name }),
      ...(fields.description !== undefined && { description: fields.description }),
      ...(fields.filter !== undefined && { filter: JSON.stringify(fields.filter) }),
      ...(fields.compareTo !== undefined && { compare_to: fields.compareTo }),
      ...(fields.charts !== undefined && { charts: JSON.stringify(fields.charts) }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)

export const deleteBoard = (db: Db, org: OrgId, id: string) =>
  db
    .deleteFrom('boards')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)
