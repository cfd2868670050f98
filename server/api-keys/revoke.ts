import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { revokeApiKeysOfUser } from './queries.ts'

/** Revokes all keys of a removed member. */
export const revokeKeysOfMember = (
  { clock }: Pick<Deps, 'clock'>,
  trx: Db,
  org: OrgId,
  { userId }: { userId: string },
) => revokeApiKeysOfUser(trx, org, userId, clock.now())
