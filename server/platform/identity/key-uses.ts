// Stores when keys were last used, and records the use of revoked keys.

import { recordAudit } from '../audit/record.ts'
import type { Db, OrgId } from '../db/database.ts'
import { upsertKeyUse } from './queries.ts'

/** The maximum inaccuracy of the stored time of last use. */
const lastUseIntervalMs = 60_000
/**
 * The interval at which uses of a revoked key are recorded, because a forgotten program may continue to send the key.
 */
const refusalIntervalMs = 60_000
const maxNoted = 1_000
const maxUsesKnown = 10_000

/** A key and its person. */
export type UsedKey = { org: OrgId; keyId: string; userId: string }

/** Records uses of keys. Requests do not wait for the writes. */
export const openKeyUses = (db: Db, beside: (write: Promise<unknown>, failure: string) => void) => {
  const usedAt = new Map<string, number>()

  const noteUse = ({ org, keyId }: UsedKey, now: Date): void => {
    if (now.getTime() - (usedAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < lastUseIntervalMs) return
    // Dropping an entry only causes another write, which changes nothing.
    if (usedAt.size >= maxUsesKnown) usedAt.clear()
    usedAt.set(keyId, now.getTime())
    beside(upsertKeyUse(db, org, keyId, now, lastUseIntervalMs), 'storing the last use of a key failed')
  }

  const notedAt = new Map<string, number>()

  /** Records that someone still uses a revoked key. */
  const noteRefusal = (refused: UsedKey, requestId: string): void => {
    const { org, keyId, userId } = refused
    const now = performance.now()
    if (now - (notedAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < refusalIntervalMs) return
    if (notedAt.size >= maxNoted) notedAt.clear()
    notedAt.set(keyId, now)
    const actor = { kind: 'key', org, keyId, userId, requestId } as const
    beside(recordAudit(db, actor, 'apiKey.refused', { type: 'apiKey', id: keyId }), 'recording a rejected key failed')
  }

  return { noteUse, noteRefusal }
}
