import type { Db } from '../../platform/db/database.ts'
import { violatedConstraint } from '../../platform/db/errors.ts'
import { ApiError } from '../../platform/errors.ts'

/** Changes the address of an account. No issuer has verified the new address yet. */
export const updateUserEmail = async (trx: Db, userId: string, email: string): Promise<void> => {
  await trx
    .updateTable('users')
    .set({ email, email_verified: false, updated_at: new Date() })
    .where('id', '=', userId)
    .execute()
    .catch((error: unknown) => {
      if (violatedConstraint(error) !== 'users_email_key') throw error
      throw new ApiError('conflict', 'Another account already uses this email address.')
    })
}

type AddressChange = { userId: string; email: string; tokenHash: string; expiresAt: Date; createdAt: Date }

/** Stores a change of address. Replaces the person's earlier one. */
export const replaceAddressChange = (trx: Db, { userId, email, tokenHash, expiresAt, createdAt }: AddressChange) => {
  const change = { email, token_hash: tokenHash, expires_at: expiresAt, created_at: createdAt }
  return trx
    .insertInto('address_changes')
    .values({ user_id: userId, ...change })
    .onConflict((conflict) => conflict.constraint('address_changes_pkey').doUpdateSet(change))
    .execute()
}

/** Deletes and returns the change that a link confirms, so that the link only works once. */
export const takeAddressChange = (trx: Db, tokenHash: string, now: Date) =>
  trx
    .deleteFrom('address_changes')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .returning(['user_id as userId', 'email'])
    .executeTakeFirst()

export const getUserEmail = async (db: Db, userId: string): Promise<string> =>
  (await db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirstOrThrow()).email

/** Deletes the password links that were sent to a person's earlier address. */
export const deleteOpenLinksAllOrgs = (trx: Db, userId: string) =>
  trx
    .deleteFrom('invitations')
    .using('members')
    .whereRef('members.organization_id', '=', 'invitations.organization_id')
    .whereRef('members.id', '=', 'invitations.member_id')
    .where('members.user_id', '=', userId)
    .where('members.joined_at', 'is not', null)
    .where('invitations.by_operator', '=', true)
    .where('invitations.accepted_at', 'is', null)
    .execute()

export const deleteExpiredAddressChanges = (db: Db, now: Date) =>
  db.deleteFrom('address_changes').where('expires_at', '<=', now).execute()
