import type { Deps } from '../platform/deps.ts'
import type { Library } from './library.ts'

const loaded = new WeakMap<Deps, Promise<Library>>()

/** Returns the library, which is loaded on first use. If loading fails, the next use tries again. */
export const loadLibrary = (deps: Deps): Promise<Library> => {
  const present = loaded.get(deps)
  if (present) return present
  const loading = import('./library.ts').then(({ openLibrary }) => openLibrary(deps))
  loaded.set(deps, loading)
  loading.catch(() => loaded.delete(deps))
  return loading
}
