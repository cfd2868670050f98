import type { Clock } from '../clock.ts'
import type { Db, OrgId } from '../db/database.ts'
import type { Listener } from '../db/listen.ts'
import type { Log } from '../log.ts'
import { type Actor, lowerRole } from './actor.ts'
import { hashKey, isKeyShaped } from './keys.ts'
import { findKeyAllOrgs, findMembership, findServiceKey, notifyIdentityChanged, updateKeyLastUsed } from './queries.ts'

/** What a request may assume of a key before it is looked up again, should a notice of its change be lost. */
const trustMs = 5_000
const lastUseIntervalMs = 60_000
/** Unknown keys are remembered too, so the number of entries is the caller's to drive: bounded. */
const maxEntries = 20_000
const channel = 'earshot_identity'

type KeyActor = Omit<Actor, 'requestId'>
type Known =
  | { kind: 'key'; actor: KeyActor; expiresAt: Date | null; lastUsedAt: number }
  | { kind: 'service'; keyId: string | null }
  | { kind: 'unknown' }
type Entry = { known: Known; loadedAt: number }

export type Identity = {
  /** What a bearer token stands for. */
  resolve: (token: string) => Promise<Known>
  /**
   * A transaction that changes who may do what in an organization: every process forgets what it knew, this one
   * before the promise resolves.
   */
  change: <T>(org: OrgId | '', fn: (trx: Db) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

type Options = { db: Db; listener: Listener; clock: Clock; log: Log; serviceKey: string | undefined }

export const openIdentity = async ({ db, listener, clock, log, serviceKey }: Options): Promise<Identity> => {
  const entries = new Map<string, Entry>()
  const loading = new Map<string, Promise<Known>>()
  const lastUseWrites = new Set<Promise<unknown>>()
  const serviceHash = serviceKey === undefined ? undefined : hashKey(serviceKey)
  // Rises with every forgetting, so that a look-up begun before one is not kept after it.
  let generation = 0

  const forget = (org: string): void => {
    generation++
    loading.clear()
    for (const [hash, { known }] of entries) {
      if (org === '' || known.kind !== 'key' || known.actor.org === org) entries.delete(hash)
    }
  }
  await listener.on(channel, forget, () => forget(''))

  const load = async (hash: string): Promise<Known> => {
    const key = await findKeyAllOrgs(db, hash)
    if (!key) {
      const service = await findServiceKey(db, hash)
      return service ? { kind: 'service', keyId: service.id } : { kind: 'unknown' }
    }
    const org = key.org as OrgId
    const member = await findMembership(db, org, key.userId)
    if (!member) return { kind: 'unknown' }
    const { monitors, observability, metrics, monitorExports, exportWebhooks, experimentsV2, phiMode } = member
    return {
      kind: 'key',
      expiresAt: key.expiresAt,
      lastUsedAt: key.lastUsedAt?.getTime() ?? 0,
      actor: {
        kind: 'key',
        org,
        keyId: key.id,
        userId: key.userId,
        role: lowerRole(key.role, member.role),
        suspended: member.suspendedAt !== null,
        entitlements: { monitors, observability, metrics },
        features: { monitorExports, exportWebhooks, experimentsV2, phiMode },
      },
    }
  }

  const loadOnce = (hash: string): Promise<Known> => {
    const begun = loading.get(hash)
    if (begun) return begun
    const seen = generation
    const promise = load(hash).then((known) => {
      if (generation === seen) {
        if (entries.size >= maxEntries) entries.clear()
        entries.set(hash, { known, loadedAt: performance.now() })
      }
      return known
    })
    loading.set(hash, promise)
    const done = () => {
      if (loading.get(hash) === promise) loading.delete(hash)
    }
    promise.then(done, done)
    return promise
  }

  const noteUse = (known: Known & { kind: 'key' }, now: Date): void => {
    if (now.getTime() - known.lastUsedAt < lastUseIntervalMs) return
    known.lastUsedAt = now.getTime()
    const { org, keyId } = known.actor
    const write = updateKeyLastUsed(db, org, keyId as string, now)
      .catch((error: unknown) => log.warn({ err: error }, 'the last use of a key could not be written'))
      .finally(() => lastUseWrites.delete(write))
    lastUseWrites.add(write)
  }

  return {
    resolve: async (token) => {
      // Keys are compared by their hashes alone, so what a comparison's time tells is nothing about a key.
      const hash = hashKey(token)
      if (hash === serviceHash) return { kind: 'service', keyId: null }
      const entry = entries.get(hash)
      const fresh = entry !== undefined && performance.now() - entry.loadedAt < trustMs
      if (!fresh && !isKeyShaped(token)) return { kind: 'unknown' }
      const known = fresh ? entry.known : await loadOnce(hash)
      if (known.kind !== 'key') return known
      const now = clock.now()
      if (known.expiresAt && known.expiresAt <= now) return { kind: 'unknown' }
      noteUse(known, now)
      return known
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
    close: async () => {
      await Promise.all(lastUseWrites)
    },
  }
}
