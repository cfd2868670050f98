import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'

/** The name that the sign-in library uses for passwords. */
const byPassword = 'credential'

/** Returns an invitation with its person and organization. */
export const findInvitation = (db: Db, org: OrgId, tokenHash: string) =>
  db
    .selectFrom('invitations')
    .innerJoin('members', (join) =>
      join
        .onRef('members.organization_id', '=', 'invitations.organization_id')
        .onRef('members.id', '=', 'invitations.member_id'),
    )
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select([
      'invitations.id',
      'invitations.expires_at as expiresAt',
      'invitations.accepted_at as acceptedAt',
      'invitations.by_operator as byOperator',
      'invitations.invited_by_user_id as invitedByUserId',
      'members.id as memberId',
      'members.joined_at as joinedAt',
      'users.id as userId',
      'users.email',
      'members.invited_email as invitedEmail',
      'organizations.name as organizationName',
      'organizations.suspended_at as suspendedAt',
    ])
    .where('invitations.organization_id', '=', org)
    .where('invitations.token_hash', '=', tokenHash)
    .executeTakeFirst()

/** Accepts an invitation. Returns whether it was still open, so that only one of two concurrent requests succeeds. */
export const acceptInvitation = async (db: Db, org: OrgId, id: string, now: Date): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('invitations')
    .set({ accepted_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Stores when a member joined. If they have already joined, keeps the stored time. */
export const updateJoined = (db: Db, org: OrgId, memberId: string, name: string, now: Date) =>
  db
    .updateTable('members')
    .set({ name, joined_at: sql`coalesce(joined_at, ${now})`, updated_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', memberId)
    .execute()

export const findPasswordHash = async (db: Db, userId: string): Promise<string | undefined> => {
  const account = await db
    .selectFrom('accounts')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', byPassword)
    .executeTakeFirst()
  return account?.password ?? undefined
}

/** Stores the first password of a person. Returns false if they already have one. */
export const insertPassword = async (db: Db, id: string, userId: string, hash: string): Promise<boolean> => {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('accounts')
    .values({ id, user_id: userId, provider_id: byPassword, account_id: userId, password: hash })
    .onConflict((conflict) => conflict.constraint('accounts_provider_key').doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Replaces the password without checking the current one. */
export const replacePassword = (db: Db, userId: string, hash: string) =>
  db
    .updateTable('accounts')
    .set({ password: hash, updated_at: sql`now()` })
    .where('user_id', '=', userId)
    .where('provider_id', '=', byPassword)
    .execute()

/** Replaces the password. Returns false if the stored password is no longer the one that was checked. */
export const updatePassword = async (db: Db, userId: string, former: string, hash: string): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('accounts')
    .set({ password: hash, updated_at: new Date() })
    .where('user_id', '=', userId)
    .where('provider_id', '=', byPassword)
    .where('password', '=', former)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const updateUserName = (db: Db, userId: string, name: string) =>
  db.updateTable('users').set({ name, updated_at: new Date() }).where('id', '=', userId).execute()

/** Returns the person that this session belongs to, if it has not expired. */
export const findSessionUser = (db: Db, tokenHash: string, now: Date) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([
      'sessions.id',
      'sessions.user_id as userId',
      'users.email',
      'users.name',
      'sessions.active_organization_id as org',
    ])
    .where('sessions.token_hash', '=', tokenHash)
    .where('sessions.expires_at', '>', now)
    .$narrowType<{ org: OrgId | null }>()
    .executeTakeFirst()

export const updateSessionOrganization = (db: Db, id: string, org: OrgId) =>
  db
    .updateTable('sessions')
    .set({ active_organization_id: org, updated_at: new Date() })
    .where('id', '=', id)
    .executeTakeFirst()

/**
 * Ends all of a person's sessions. Also cancels a pending change of address, because its link doesn't require a
 * session.
 */
export const deleteSessionsOfUser = async (db: Db, userId: string): Promise<void> => {
  await db.deleteFrom('address_changes').where('user_id', '=', userId).execute()
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

/**
 * Deletes expired sessions. Works in batches, so that it does not lock many rows at once. Returns the number of deleted
 * sessions.
 */
export const deleteExpiredSessionsAllOrgs = async (db: Db, now: Date, limit: number): Promise<number> => {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('id', 'in', (select) =>
      select.selectFrom('sessions').select('id').where('expires_at', '<=', now).orderBy('expires_at').limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * Lists the organizations that a person has joined: active ones first, then in the order in which the person joined.
 */
export const listJoinedAllOrgs = (db: Db, userId: string) =>
  db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select([
      'organizations.id',
      'organizations.name',
      'organizations.slug',
      'members.role',
      'organizations.suspended_at as suspendedAt',
    ])
    .where('members.user_id', '=', userId)
    .where('members.joined_at', 'is not', null)
    .orderBy((order) => order('organizations.suspended_at', 'is not', null))
    .orderBy('members.joined_at')
    .orderBy('members.id')
    .$narrowType<{ id: OrgId }>()
    .execute()

export const deletePassword = (db: Db, userId: string) =>
  db.deleteFrom('accounts').where('user_id', '=', userId).where('provider_id', '=', byPassword).execute()

/** Finds the person's membership in an active organization. */
export const findJoinedByEmailAllOrgs = (db: Db, email: string) =>
  db
    .selectFrom('users')
    .innerJoin('members', 'members.user_id', 'users.id')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select(['members.organization_id as org', 'members.id as memberId', 'users.id as userId', 'users.email'])
    .where('users.email', '=', email.toLowerCase())
    .where('members.joined_at', 'is not', null)
    .where('organizations.suspended_at', 'is', null)
    .orderBy('members.joined_at')
    .orderBy('members.id')
    .limit(1)
    .$narrowType<{ org: OrgId }>()
    .executeTakeFirst()

/** Returns the time when an unused password link was last created for a member. */
export const findLinkMadeAt = async (db: Db, org: OrgId, memberId: string): Promise<Date | undefined> => {
  const link = await db
    .selectFrom('invitations')
    .select('created_at as createdAt')
    .where('organization_id', '=', org)
    .where('member_id', '=', memberId)
    .where('by_operator', '=', true)
    .where('accepted_at', 'is', null)
    .executeTakeFirst()
  return link?.createdAt
}
