import { dropOldest } from '../drop-oldest.ts'

/** The time for which permissions are cached, in case the notification of a change is lost. */
const trustMs = 5_000
/** The maximum number of entries. Unknown callers are cached too, so without a limit, their number would grow. */
const maxEntries = 20_000

type Options<T> = {
  load: (hash: string) => Promise<T>
  /** Returns the organization with changes that affect the entry, or undefined if any could. */
  orgOf: (known: T) => string | undefined
}

/** Caches the identities of keys and sessions by the hashes of their secrets. */
export const openCache = <T>({ load, orgOf }: Options<T>) => {
  const entries = new Map<string, { known: T; loadedAt: number }>()
  const loading = new Map<string, Promise<T>>()
  // Increases with every removal, so that results of lookups that started earlier are not cached.
  let generation = 0

  const peek = (hash: string): T | undefined => {
    const entry = entries.get(hash)
    return entry !== undefined && performance.now() - entry.loadedAt < trustMs ? entry.known : undefined
  }

  const loadOnce = (hash: string): Promise<T> => {
    const begun = loading.get(hash)
    if (begun) return begun
    const seen = generation
    const loadedAt = performance.now()
    const promise = load(hash).then((known) => {
      if (generation === seen) {
        // The oldest entry is removed first. Frequent callers are loaded again and move to the end.
        entries.delete(hash)
        entries.set(hash, { known, loadedAt })
        dropOldest(entries, maxEntries)
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

  return {
    /** Returns a cached value without querying the database. */
    peek,
    find: (hash: string): T | Promise<T> => peek(hash) ?? loadOnce(hash),
    /** Removes everything that belongs to an organization, or everything if `org` is empty. */
    forget: (org: string): void => {
      generation++
      loading.clear()
      for (const [hash, { known }] of entries) {
        const own = orgOf(known)
        if (org === '' || own === undefined || own === org) entries.delete(hash)
      }
    },
  }
}
