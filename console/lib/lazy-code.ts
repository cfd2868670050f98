// Loads code when a page needs it. After a deployment, the files that an open page would load no longer exist.

import { useSyncExternalStore } from 'react'

type LateCode<T> = {
  /** Undefined until the code is loaded. */
  readonly loaded: T | undefined
  load: () => Promise<T>
}

/** Loads code once. After a failure, the next call tries again. */
export const lazyCode = <T>(importCode: () => Promise<T>): LateCode<T> => {
  let loaded: T | undefined
  let loading: Promise<T> | undefined
  const load = async (): Promise<T> => {
    try {
      loading ??= importCode()
      loaded = await loading
      return loaded
    } catch (error) {
      loading = undefined
      throw error
    }
  }
  return {
    load,
    get loaded() {
      return loaded
    },
  }
}

let isMissing = false
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Informs the user that required code couldn't be loaded. */
export const reportMissingCode = (): void => {
  isMissing = true
  for (const listener of listeners) listener()
}

export const useMissingCode = (): boolean => useSyncExternalStore(subscribe, () => isMissing)
