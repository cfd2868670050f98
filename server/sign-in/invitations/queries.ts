import type { Db, OrgId } from '../../platform/db/database.ts'

/**
 * Lists a person's open invitations. Without the link, only a verified address proves that an invitation belongs to the
 * person, so an unverified address has none.
 */
export const listInvitedAllOrgs = (db: Db, userId: string) =>
  db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .leftJoin('invitations', (join) =>
      join
        .onRef('invitations.organization_id', '=', 'members.organization_id')
        .onRef('invitations.member_id', '=', 'members.id'),
    )
    .select([
      'organizations.id',
      'organizations.name',
      'members.id as memberId',
      'members.name as memberName',
      'members.role',
      'members.created_at as invitedAt',
      'invitations.invited_by_user_id as invitedByUserId',
    ])
    .where('members.user_id', '=', userId)
    .where('members.joined_at', 'is', null)
    .where('organizations.suspended_at', 'is', null)
    .where('users.email_verified', '=', true)
    .orderBy('members.id')
    .$narrowType<{ id: OrgId }>()
    .execute()
