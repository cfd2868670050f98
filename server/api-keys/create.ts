import { lockMembershipShared } from '../members/queries.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { invalid } from '../platform/errors.ts'
import { generateKey } from '../platform/identity/keys.ts'
import { newId } from '../platform/ids.ts'
import { insertApiKey } from './queries.ts'
import type { ApiKeyCreate } from './schema.ts'

/** Creates a key that acts for a member, and returns it with its secret, which is not stored. */
export const createApiKey = async (trx: Db, clock: Clock, org: OrgId, userId: string, body: ApiKeyCreate) => {
  const expiresAt = body.expiresAt ? new Date(body.expiresAt) : null
  if (expiresAt && expiresAt <= clock.now()) throw invalid('expiresAt', 'must be in the future')
  await lockMembershipShared(trx, org, userId)
  const key = generateKey()
  const created = await insertApiKey(trx, org, {
    id: newId(),
    key,
    name: body.name,
    role: body.role,
    createdByUserId: userId,
    expiresAt,
  })
  return { ...created, lastUsedAt: null, key }
}
