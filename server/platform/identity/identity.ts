import type { Clock } from '../clock.ts'
import type { Db, OrgId } from '../db/database.ts'
import type { Listener } from '../db/listen.ts'
import { newId, orgIdOf } from '../ids.ts'
import type { Log } from '../log.ts'
import { type Actor, lowerRole } from './actor.ts'
import { openCache } from './cache.ts'
import { openKeyUses, type UsedKey } from './key-uses.ts'
import { hashKey, isKeyShaped } from './keys.ts'
import { findKeyAllOrgs, findMembership, findServiceKey, findSession, notifyIdentityChanged } from './queries.ts'

const channel = 'earshot_identity'

type KnownActor = Omit<Actor, 'requestId'>
type Unknown = { kind: 'unknown'; refused?: UsedKey }
export type KnownKey =
  | { kind: 'key'; actor: KnownActor; expiresAt: Date | null; refused: UsedKey }
  | { kind: 'service'; keyId: string | null }
  | Unknown
export type KnownSession = { kind: 'session'; actor: KnownActor; expiresAt: Date } | Unknown

export type Identity = {
  /** Returns the cached identity of a bearer token. */
  recall: (token: string) => Exclude<KnownKey, Unknown> | undefined
  /** Returns the identity of a bearer token. */
  resolve: (token: string, requestId?: string) => Promise<KnownKey>
  /** Returns the identity for a session's token: a member of the session's current organization. */
  resolveSession: (token: string) => Promise<KnownSession>
  /**
   * Runs a transaction that changes permissions in an organization. Every process then drops its cache for it. This
   * process does so before the promise resolves.
   */
  change: <T>(org: OrgId | '', fn: (trx: Db) => Promise<T>) => Promise<T>
  /** Calls back when permissions in an organization may have changed. An empty `org` means any organization. */
  onChange: (handler: (org: string) => void) => void
  /** Tracks a write that requests don't wait for. */
  beside: (write: Promise<unknown>, failure: string) => void
  close: () => Promise<void>
}

type Options = { db: Db; listener: Listener; clock: Clock; log: Log; serviceKey: string | undefined }

type Membership = NonNullable<Awaited<ReturnType<typeof findMembership>>>

const permissionsOf = (member: Membership) => {
  const { suspendedAt, monitors, observability, metrics, monitorExports, exportWebhooks, experimentsV2, phiMode } =
    member
  return {
    suspended: suspendedAt !== null,
    entitlements: { monitors, observability, metrics },
    features: { monitorExports, exportWebhooks, experimentsV2, phiMode },
  }
}

export const openIdentity = async ({ db, listener, clock, log, serviceKey }: Options): Promise<Identity> => {
  const writes = new Set<Promise<unknown>>()
  const serviceHash = serviceKey === undefined ? undefined : hashKey(serviceKey)

  const loadKey = async (hash: string): Promise<KnownKey> => {
    const key = await findKeyAllOrgs(db, hash)
    if (!key) {
      const service = await findServiceKey(db, hash)
      return service ? { kind: 'service', keyId: service.id } : { kind: 'unknown' }
    }
    const { id: keyId, userId, expiresAt } = key
    const org = orgIdOf(key.org)
    const refused = { org, keyId, userId }
    const member = key.revokedAt ? undefined : await findMembership(db, org, userId)
    if (!member) return { kind: 'unknown', refused }
    const role = lowerRole(key.role, member.role)
    return {
      kind: 'key',
      refused,
      expiresAt,
      actor: { kind: 'key', org, keyId, userId, role, ...permissionsOf(member) },
    }
  }

  const loadSession = async (hash: string): Promise<KnownSession> => {
    const session = await findSession(db, hash)
    if (!session?.org) return { kind: 'unknown' }
    const { userId, expiresAt } = session
    const org = orgIdOf(session.org)
    const member = await findMembership(db, org, userId)
    // Keys can be created for invited people, but can only be used after they join.
    if (!member?.joinedAt) return { kind: 'unknown' }
    const { role } = member
    return {
      kind: 'session',
      expiresAt,
      actor: { kind: 'user', org, keyId: null, userId, role, ...permissionsOf(member) },
    }
  }

  const orgOf = (known: KnownKey | KnownSession) => ('actor' in known ? known.actor.org : undefined)
  const keys = openCache({ load: loadKey, orgOf })
  const sessions = openCache({ load: loadSession, orgOf })
  const forget = (org: string): void => {
    keys.forget(org)
    sessions.forget(org)
  }
  const handlers: ((org: string) => void)[] = []
  const forgetAndTell = (org: string): void => {
    forget(org)
    for (const handler of handlers) handler(org)
  }
  await listener.on(channel, forgetAndTell, () => forgetAndTell(''))

  const beside = (write: Promise<unknown>, failure: string): void => {
    const tracked = write
      .catch((error: unknown) => log.warn({ err: error }, failure))
      .finally(() => writes.delete(tracked))
    writes.add(tracked)
  }

  const { noteUse, noteRefusal } = openKeyUses(db, beside)

  const atPresent = (known: KnownKey): KnownKey => {
    if (known.kind !== 'key') return known
    const now = clock.now()
    if (known.expiresAt && known.expiresAt <= now) return { kind: 'unknown', refused: known.refused }
    noteUse(known.refused, now)
    return known
  }

  return {
    recall: (token) => {
      const known = keys.peek(hashKey(token))
      const present = known && atPresent(known)
      return present?.kind === 'unknown' ? undefined : present
    },
    resolve: async (token, requestId = newId()) => {
      // Hashes of keys are compared, so that the timing reveals nothing about a key.
      const hash = hashKey(token)
      if (hash === serviceHash) return { kind: 'service', keyId: null }
      if (!isKeyShaped(token)) return { kind: 'unknown' }
      const known = atPresent(await keys.find(hash))
      if (known.kind === 'unknown' && known.refused) noteRefusal(known.refused, requestId)
      return known
    },
    resolveSession: async (token) => {
      const known = await sessions.find(hashKey(token))
      return known.kind === 'session' && known.expiresAt <= clock.now() ? { kind: 'unknown' } : known
    },
    change: async (org, fn) => {
      const result = await db.transaction().execute(async (trx) => {
        const value = await fn(trx)
        await notifyIdentityChanged(trx, channel, org)
        return value
      })
      forget(org)
      return result
    },
    onChange: (handler) => {
      handlers.push(handler)
    },
    beside,
    close: async () => {
      await Promise.all(writes)
    },
  }
}
