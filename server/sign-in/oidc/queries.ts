import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type Subject = { issuer: string; subject: string }

/** Finds the person identified by an issuer's subject. */
export const findUserOfIdentity = (db: Db, { issuer, subject }: Subject) =>
  db
    .selectFrom('identities')
    .innerJoin('users', 'users.id', 'identities.user_id')
    .select(['users.id', 'users.email', 'users.email_verified as emailVerified'])
    .where('identities.issuer', '=', issuer)
    .where('identities.subject', '=', subject)
    .executeTakeFirst()

/**
 * Finds the person with an address, and prevents identities from being linked to them until the transaction ends. The
 * lock is not on the row, because every node of a cluster has a copy of the row.
 */
export const lockUserByEmail = async (trx: Db, email: string) => {
  const address = email.toLowerCase()
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('identity of ' || ${address}::text, 0))`.execute(trx)
  return trx
    .selectFrom('users')
    .select(['id', 'email', 'email_verified as emailVerified'])
    .where('email', '=', address)
    .executeTakeFirst()
}

/** Links an identity to a person. Returns whether the link is new. */
export const insertIdentity = async (trx: Db, id: string, userId: string, { issuer, subject }: Subject) => {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('identities')
    .values({ id, user_id: userId, issuer, subject })
    .onConflict((conflict) => conflict.constraint('identities_subject_key').doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export const deleteIdentities = (trx: Db, userId: string) =>
  trx.deleteFrom('identities').where('user_id', '=', userId).execute()

/** Returns whether an issuer has verified the person's address. */
export const hasIdentity = async (db: Db, userId: string): Promise<boolean> => {
  const identity = await db.selectFrom('identities').select('id').where('user_id', '=', userId).executeTakeFirst()
  return identity !== undefined
}

/** Stores that an issuer has verified the person's address. */
export const updateUserEmailVerified = (trx: Db, userId: string) =>
  trx.updateTable('users').set({ email_verified: true, updated_at: new Date() }).where('id', '=', userId).execute()

type NewSession = {
  id: string
  userId: string
  tokenHash: string
  org: OrgId | null
  address: string
  userAgent: string | null
  expiresAt: Date
}

export const insertSession = (trx: Db, { id, userId, tokenHash, org, address, userAgent, expiresAt }: NewSession) =>
  trx
    .insertInto('sessions')
    .values({
      id,
      user_id: userId,
      token_hash: tokenHash,
      active_organization_id: org,
      ip_address: address,
      user_agent: userAgent,
      expires_at: expiresAt,
    })
    .execute()
