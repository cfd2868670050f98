import { useSyncExternalStore } from 'react'

/**
 * The playback position in seconds. It changes many times a second, so only components that depend on it render again.
 */
export type Clock = {
  now: () => number
  set: (seconds: number) => void
  subscribe: (listener: () => void) => () => void
}

export const makeClock = (start: number): Clock => {
  let now = start
  const listeners = new Set<() => void>()
  return {
    now: () => now,
    set: (seconds) => {
      if (seconds === now) return
      now = seconds
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Returns a value derived from the position. Renders again only when that value changes. */
export const useClock = <T extends string | number | boolean | undefined>(
  clock: Clock,
  select: (seconds: number) => T,
): T => useSyncExternalStore(clock.subscribe, () => select(clock.now()))
