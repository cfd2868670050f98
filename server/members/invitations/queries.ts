import type { Db, OrgId } from '../../platform/db/database.ts'

type NewInvitation = {
  id: string
  memberId: string
  tokenHash: string
  expiresAt: Date
  createdAt: Date
  byOperator: boolean
  invitedByUserId: string | null
}

/** Stores an invitation, which replaces the member's earlier one. */
export const replaceInvitation = (db: Db, org: OrgId, invitation: NewInvitation) => {
  const { id, memberId, tokenHash, expiresAt, createdAt, byOperator, invitedByUserId } = invitation
  const link = {
    id,
    token_hash: tokenHash,
    expires_at: expiresAt,
    created_at: createdAt,
    by_operator: byOperator,
    invited_by_user_id: invitedByUserId,
  }
  return db
    .insertInto('invitations')
    .values({ organization_id: org, member_id: memberId, ...link })
    .onConflict((conflict) => conflict.constraint('invitations_member_key').doUpdateSet({ ...link, accepted_at: null }))
    .execute()
}
