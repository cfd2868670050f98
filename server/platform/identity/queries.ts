import { sql } from 'kysely'
import type { Db, OrgId } from '../db/database.ts'
import { notify } from '../db/notify.ts'
import { hashKey, keyPrefix } from './keys.ts'

/** Finds a key and its organization. The organization is not known before the lookup, so it isn't a condition. */
export const findKeyAllOrgs = (db: Db, hash: string) =>
  db
    .selectFrom('api_keys')
    .select([
      'organization_id as org',
      'id',
      'role',
      'created_by_user_id as userId',
      'expires_at as expiresAt',
      'revoked_at as revokedAt',
    ])
    .where('hash', '=', hash)
    .executeTakeFirst()

export const findServiceKey = (db: Db, hash: string) =>
  db.selectFrom('service_keys').select('id').where('hash', '=', hash).where('revoked_at', 'is', null).executeTakeFirst()

export const insertServiceKey = (db: Db, { id, key, name }: { id: string; key: string; name: string }) =>
  db
    .insertInto('service_keys')
    .values({ id, hash: hashKey(key), prefix: keyPrefix(key), name })
    .execute()

/** Revokes a service key. Returns whether it exists, even if it was already revoked. */
export const revokeServiceKey = async (db: Db, id: string, revokedAt: Date): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('service_keys')
    .set((set) => ({ revoked_at: set.fn.coalesce('revoked_at', set.val(revokedAt)) }))
    .where(sql<string>`id::text`, '=', id.toLowerCase())
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns the session for a token's hash, with its current organization. */
export const findSession = (db: Db, hash: string) =>
  db
    .selectFrom('sessions')
    .select(['id', 'user_id as userId', 'active_organization_id as org', 'expires_at as expiresAt'])
    .where('token_hash', '=', hash)
    .executeTakeFirst()

/** Returns the member's view of the organization: current role, entitlements, features. */
export const findMembership = (db: Db, org: OrgId, userId: string) =>
  db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select([
      'members.role',
      'members.joined_at as joinedAt',
      'organizations.suspended_at as suspendedAt',
      'monitors',
      'observability',
      'metrics',
      'monitor_exports as monitorExports',
      'export_webhooks as exportWebhooks',
      'experiments_v2 as experimentsV2',
      'phi_mode as phiMode',
    ])
    .where('members.organization_id', '=', org)
    .where('members.user_id', '=', userId)
    .executeTakeFirst()

/** Stores when a key was used. Writes at most once per interval, no matter how many processes see the key. */
export const upsertKeyUse = (db: Db, org: OrgId, keyId: string, usedAt: Date, intervalMs: number) =>
  db
    .insertInto('api_key_uses')
    .values({ organization_id: org, api_key_id: keyId, last_used_at: usedAt })
    .onConflict((conflict) =>
      conflict
        .constraint('api_key_uses_pkey')
        .doUpdateSet({ last_used_at: usedAt })
        .where('api_key_uses.last_used_at', '<=', new Date(usedAt.getTime() - intervalMs)),
    )
    .execute()

/** Makes every process drop its cache of the organization's keys when the transaction commits. */
export const notifyIdentityChanged = (db: Db, channel: string, org: OrgId | '') => notify(db, channel, org)
