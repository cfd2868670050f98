/** How long a caller's permissions are cached, in case a change notification is lost. */
const trustMs = 5_000
/** Unknown callers are cached too, so they determine the number of entries: bounded. */
const maxEntries = 20_000

type Options<T> = {
  load: (hash: string) => Promise<T>
  /** The organization whose changes affect it; undefined if any could. */
  orgOf: (known: T) => string | undefined
}

/** Caches what secrets identify, by their hashes. */
export const openCache = <T>({ load, orgOf }: Options<T>) => {
  const entries = new Map<string, { known: T; loadedAt: number }>()
  const loading = new Map<string, Promise<T>>()
  // Increases with every removal, so that a lookup that started before is not cached.
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
        // The oldest is removed first: frequent callers are looked up again and move to the end.
        entries.delete(hash)
        for (const oldest of entries.keys()) {
          if (entries.size < maxEntries) break
          entries.delete(oldest)
        }
        entries.set(hash, { known, loadedAt })
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
    /** Returns cached values without the database. */
    peek,
    find: (hash: string): T | Promise<T> => peek(hash) ?? loadOnce(hash),
    /** Removes what concerns an organization; everything for the empty one. */
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
