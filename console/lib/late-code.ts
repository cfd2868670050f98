// Code that a page loads when it is used. After a deploy, the files that an open page would load are gone.

import { useSyncExternalStore } from 'react'

type LateCode<T> = {
  /** Undefined until it is loaded. */
  readonly loaded: T | undefined
  load: () => Promise<T>
}

/** Loads code once. A failure is not kept, so the next call tries again. */
export const lateCode = <T>(importCode: () => Promise<T>): LateCode<T> => {
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

/** Tells the user that code they asked for could not be loaded. */
export const reportMissingCode = (): void => {
  isMissing = true
  for (const listener of listeners) listener()
}

export const useMissingCode = (): boolean => useSyncExternalStore(subscribe, () => isMissing)
