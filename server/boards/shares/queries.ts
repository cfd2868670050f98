import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

const columns = [
  'id',
  'board_id as boardId',
  'company_id as companyId',
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'expires_at as expiresAt',
  'last_opened_at as lastOpenedAt',
] as const

export const listShares = (db: Db, org: OrgId, boardId: string, page: Page) =>
  db
    .selectFrom('board_shares')
    .select(columns)
    .where('organization_id', '=', org)
    .where('board_id', '=', boardId)
    .$call(newestFirst('id', page))
    .execute()

/** Counts the links that have not expired, up to `most`. */
export const countOpenShares = async (db: Db, org: OrgId, boardId: string, now: Date): Promise<number> => {
  const { count } = await db
    .selectFrom('board_shares')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .where('board_id', '=', boardId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return count
}

type NewShare = {
  id: string
  boardId: string
  companyId: string
  tokenHash: string
  createdByUserId: string
  createdAt: Date
  expiresAt: Date
}

export const insertShare = (db: Db, org: OrgId, share: NewShare) =>
  db
    .insertInto('board_shares')
    .values({
      organization_id: org,
      id: share.id,
      board_id: share.boardId,
      company_id: share.companyId,
      token_hash: share.tokenHash,
      created_by_user_id: share.createdByUserId,
      created_at: share.createdAt,
      expires_at: share.expiresAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const deleteShare = (db: Db, org: OrgId, boardId: string, id: string) =>
  db
    .deleteFrom('board_shares')
    .where('organization_id', '=', org)
    .where('board_id', '=', boardId)
    .where('id', '=', id)
    .returning(['id', 'company_id as companyId'])
    .executeTakeFirstOrThrow(notFound)

export const deleteSharesOf = async (db: Db, org: OrgId, boardId: string): Promise<void> => {
  await db.deleteFrom('board_shares').where('organization_id', '=', org).where('board_id', '=', boardId).execute()
}

/** Finds the link with this token, unless it has expired. */
export const findOpenShare = (db: Db, org: OrgId, id: string, tokenHash: string, now: Date) =>
  db
    .selectFrom('board_shares')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()

/** Records that a link was opened, at most once a minute. */
export const noteOpened = async (db: Db, org: OrgId, id: string, now: Date): Promise<void> => {
  await db
    .updateTable('board_shares')
    .set({ last_opened_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where((where) =>
      where.or([where('last_opened_at', 'is', null), where('last_opened_at', '<', new Date(now.getTime() - 60_000))]),
    )
    .execute()
}
