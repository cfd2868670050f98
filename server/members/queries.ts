import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'
import type { Role } from '../platform/identity/actor.ts'

const columns = [
  'members.id',
  'members.user_id as userId',
  // Until people join, their invitation's address is shown, even if they have changed their address elsewhere.
  sql<string>`coalesce(case when members.joined_at is null then members.invited_email end, users.email)`.as('email'),
  'members.name',
  'members.role',
  sql<'invited' | 'active'>`case when members.joined_at is null then 'invited' else 'active' end`.as('status'),
  'members.created_at as createdAt',
  'members.updated_at as updatedAt',
] as const

const selectMembers = (db: Db, org: OrgId) =>
  db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(columns)
    .where('members.organization_id', '=', org)

export const listMembers = (db: Db, org: OrgId, page: Page) =>
  selectMembers(db, org).$call(newestFirst('members.id', page)).execute()

export const getMember = (db: Db, org: OrgId, id: string) =>
  selectMembers(db, org).where('members.id', '=', id).executeTakeFirstOrThrow(notFound)

export const getMemberOfUser = (db: Db, org: OrgId, userId: string) =>
  selectMembers(db, org).where('members.user_id', '=', userId).executeTakeFirstOrThrow(notFound)

export const findMemberByEmail = (db: Db, org: OrgId, email: string) =>
  selectMembers(db, org).where('users.email', '=', email.toLowerCase()).executeTakeFirst()

/**
 * Finds or creates the person with this address. The person may be known from another organization. Unlike other IDs, a
 * new person's ID does not start with the time, because it would reveal to the inviter whether the person was known
 * before.
 */
export const insertUserIfNew = async (db: Db, user: { email: string; name: string }): Promise<string> => {
  const email = user.email.toLowerCase()
  const inserted = await db
    .insertInto('users')
    .values({ id: randomUUID(), email, name: user.name })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted) return inserted.id
  const known = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow()
  return known.id
}

type NewMember = { id: string; userId: string; email: string; name: string; role: Role }

export const insertMember = (db: Db, org: OrgId, { id, userId, email, name, role }: NewMember) =>
  db
    .insertInto('members')
    .values({ organization_id: org, id, user_id: userId, invited_email: email.toLowerCase(), name, role })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (violatedConstraint(error) !== 'members_user_key') throw error
      throw new ApiError('conflict', 'This person is already a member. Change the role with PATCH.')
    })

/**
 * Locks the member to change, and counts the other owners. If the member has joined, only owners who have joined count,
 * because an invited owner may never join. All owners are locked in a fixed order, so that two concurrent changes can't
 * remove the last owner.
 */
export const lockMember = async (db: Db, org: OrgId, id: string) => {
  const locked = await db
    .selectFrom('members')
    .select(['id', 'user_id as userId', 'role', 'joined_at as joinedAt'])
    .where('organization_id', '=', org)
    .where((where) => where.or([where('id', '=', id), where('role', '=', 'owner')]))
    .orderBy('id')
    .forUpdate()
    .execute()
  const member = locked.find((row) => row.id === id.toLowerCase())
  if (!member) throw notFound()
  const owners = locked.filter(({ role, joinedAt }) => role === 'owner' && (joinedAt || !member.joinedAt))
  return { ...member, owners: owners.length }
}

/** Returns whether the person is a member. Locks the membership until the transaction ends. */
export const isMember = async (trx: Db, org: OrgId, userId: string): Promise<boolean> => {
  const member = await trx
    .selectFrom('members')
    .select('id')
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .forShare()
    .executeTakeFirst()
  return member !== undefined
}

/**
 * Locks a membership until the transaction ends, so that removing the member also finds data that is being created for
 * them.
 */
export const lockMembershipShared = (db: Db, org: OrgId, userId: string) =>
  db
    .selectFrom('members')
    .select('id')
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .forShare()
    .executeTakeFirstOrThrow(() => new ApiError('forbidden', 'You are no longer a member of this organization.'))

/** Returns the earliest owner. Provisioned keys act for them. */
export const getFirstOwner = (db: Db, org: OrgId) =>
  selectMembers(db, org)
    .where('members.role', '=', 'owner')
    .orderBy('members.id')
    .limit(1)
    .executeTakeFirstOrThrow(notFound)

export const updateMember = (db: Db, org: OrgId, id: string, { name, role }: { name?: string; role?: Role }) =>
  db
    .updateTable('members')
    .set({
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

export const deleteMember = (db: Db, org: OrgId, id: string) =>
  db.deleteFrom('members').where('organization_id', '=', org).where('id', '=', id).execute()
