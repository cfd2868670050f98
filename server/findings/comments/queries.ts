import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { oldestFirst } from '../../platform/db/pages.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

const columns = [
  'id',
  'finding_id as findingId',
  'author_user_id as authorUserId',
  sql<object>`body`.as('body'),
  'created_at as createdAt',
  'edited_at as editedAt',
] as const

/** Lists the comments of these findings, oldest first. */
export const listComments = (db: Db, org: OrgId, findingIds: string[], page: Page) =>
  db
    .selectFrom('finding_comments')
    .select(columns)
    .where('organization_id', '=', org)
    .where('finding_id', '=', sql<string>`ANY(${findingIds}::uuid[])`)
    .$call(oldestFirst('id', page))
    .execute()

export const getComment = (db: Db, org: OrgId, findingId: string, id: string) =>
  db
    .selectFrom('finding_comments')
    .select(columns)
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

export const countComments = async (db: Db, org: OrgId, findingId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('finding_comments')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .executeTakeFirstOrThrow()
  return count
}

type NewComment = { id: string; findingId: string; authorUserId: string; body: object; now: Date }

export const insertComment = (trx: Db, org: OrgId, { id, findingId, authorUserId, body, now }: NewComment) =>
  trx
    .insertInto('finding_comments')
    .values({
      organization_id: org,
      id,
      finding_id: findingId,
      author_user_id: authorUserId,
      body: JSON.stringify(body),
      created_at: now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

/** Locks a comment of one of these findings until the transaction ends. */
export const lockComment = (trx: Db, org: OrgId, findingIds: string[], id: string) =>
  trx
    .selectFrom('finding_comments')
    .select(['id', 'finding_id as findingId', 'author_user_id as authorUserId'])
    .where('organization_id', '=', org)
    .where('finding_id', '=', sql<string>`ANY(${findingIds}::uuid[])`)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

export const updateComment = (trx: Db, org: OrgId, id: string, { body, now }: { body: object; now: Date }) =>
  trx
    .updateTable('finding_comments')
    .set({ body: JSON.stringify(body), edited_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)

export const deleteComment = (trx: Db, org: OrgId, id: string) =>
  trx.deleteFrom('finding_comments').where('organization_id', '=', org).where('id', '=', id).execute()
