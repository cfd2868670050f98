import { useSyncExternalStore } from 'react'

/** The place in a recording, in seconds. It moves many times a second, so only what it changes is drawn anew. */
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

/** What follows from the place; drawn anew only when that changes. */
export const useClock = <T extends string | number | boolean | undefined>(
  clock: Clock,
  select: (seconds: number) => T,
): T => useSyncExternalStore(clock.subscribe, () => select(clock.now()))
