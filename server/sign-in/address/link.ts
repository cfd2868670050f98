import { randomBytes } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import { replaceAddressChange } from './queries.ts'

type Change = { userId: string; email: string; lifetimeMs: number }

/** Creates a link that, when opened, changes the account to this address. It replaces the person's earlier link. */
export const makeAddressLink = async (
  { clock, baseUrl }: Pick<Deps, 'clock' | 'baseUrl'>,
  trx: Db,
  { userId, email, lifetimeMs }: Change,
): Promise<string> => {
  const token = randomBytes(32).toString('base64url')
  const createdAt = clock.now()
  const expiresAt = new Date(createdAt.getTime() + lifetimeMs)
  await replaceAddressChange(trx, { userId, email, tokenHash: hashKey(token), expiresAt, createdAt })
  return `${baseUrl()}/confirm-address#${token}`
}
