// Loads code when a page needs it. After a deployment, the files of an open page no longer exist.

import { useSyncExternalStore } from 'react'

type LateCode<T> = {
  /** This is undefined until the code is loaded. */
  readonly loaded: T | undefined
  load: () => Promise<T>
}

/** Loads code once. The next call after a failure tries again. */
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

/** Shows the user that code they need couldn't be loaded. */
export const reportMissingCode = (): void => {
  isMissing = true
  for (const listener of listeners) listener()
}

export const useMissingCode = (): boolean => useSyncExternalStore(subscribe, () => isMissing)
