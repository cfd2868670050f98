import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'
import { lowerRole, type Role } from '../platform/identity/actor.ts'
import { hashKey, keyPrefix } from '../platform/identity/keys.ts'

const columns = [
  'id',
  'name',
  'role',
  'prefix',
  'expires_at as expiresAt',
  'revoked_at as revokedAt',
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
] as const

export const listApiKeys = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('api_keys')
    .leftJoin('api_key_uses as u', (join) =>
      join.on('u.organization_id', '=', org).onRef('u.api_key_id', '=', 'api_keys.id'),
    )
    .select([...columns, 'u.last_used_at as lastUsedAt'])
    .where('api_keys.organization_id', '=', org)
    .$call(newestFirst('id', page))
    .execute()

type NewApiKey = {
  id: string
  key: string
  name: string
  role: Role
  createdByUserId: string
  expiresAt: Date | null
}

export const insertApiKey = (db: Db, org: OrgId, { id, key, name, role, createdByUserId, expiresAt }: NewApiKey) =>
  db
    .insertInto('api_keys')
    .values({
      organization_id: org,
      id,
      hash: hashKey(key),
      prefix: keyPrefix(key),
      name,
      role,
      created_by_user_id: createdByUserId,
      expires_at: expiresAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

/** Returns the effective role of a key that is to be revoked: the lower of its own role and its owner's role. */
export const getApiKeyReach = async (db: Db, org: OrgId, id: string): Promise<Role> => {
  const { role, memberRole } = await db
    .selectFrom('api_keys')
    .leftJoin('members', (join) =>
      join
        .onRef('members.organization_id', '=', 'api_keys.organization_id')
        .onRef('members.user_id', '=', 'api_keys.created_by_user_id'),
    )
    .select(['api_keys.role', 'members.role as memberRole'])
    .where('api_keys.organization_id', '=', org)
    .where('api_keys.id', '=', id)
    .executeTakeFirstOrThrow(notFound)
  // The key of a removed member has no permissions, so anyone may revoke it.
  return memberRole ? lowerRole(role, memberRole) : 'viewer'
}

/** Revokes a key. Revoking a key again keeps the original timestamp. */
export const revokeApiKey = (db: Db, org: OrgId, id: string, revokedAt: Date) =>
  db
    .updateTable('api_keys')
    .set((set) => ({ revoked_at: set.fn.coalesce('revoked_at', set.val(revokedAt)) }))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

export const revokeApiKeysOfUser = (db: Db, org: OrgId, userId: string, revokedAt: Date) =>
  db
    .updateTable('api_keys')
    .set({ revoked_at: revokedAt })
    .where('organization_id', '=', org)
    .where('created_by_user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute()
