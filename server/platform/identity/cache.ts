/** What a request may assume of a caller before looking again, should a notice of a change be lost. */
const trustMs = 5_000
/** Unknown callers are remembered too, so the number of entries is theirs to drive: bounded. */
const maxEntries = 20_000

type Options<T> = {
  load: (hash: string) => Promise<T>
  /** The organization whose changes concern it; undefined when any might. */
  orgOf: (known: T) => string | undefined
}

/** What callers' secrets stand for, by their hashes. */
export const openCache = <T>({ load, orgOf }: Options<T>) => {
  const entries = new Map<string, { known: T; loadedAt: number }>()
  const loading = new Map<string, Promise<T>>()
  // Rises with every forgetting, so that a look-up begun before one is not kept after it.
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
        // The oldest goes first: whoever calls often is looked up anew and stands at the end again.
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
    /** What is known without asking the database. */
    peek,
    find: (hash: string): T | Promise<T> => peek(hash) ?? loadOnce(hash),
    /** Forgets what concerns an organization; everything for the empty one. */
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
