import type { Clock } from '../../platform/clock.ts'

/** A period without requests to an endpoint. Each process has its own, by its own clock. */
export const openRest = (clock: Clock) => {
  let from = 0
  let until = 0
  const now = () => clock.now().getTime()

  /** Ignores one that would start later: the clock was set back. */
  const leftMs = (): number => {
    const instant = now()
    if (instant < from) until = 0
    return Math.max(0, until - instant)
  }

  /** From now, unless the current one is longer. */
  const extend = (ms: number) => {
    if (ms <= leftMs()) return
    from = now()
    until = from + ms
  }

  const end = () => {
    until = 0
  }

  return { leftMs, extend, end }
}
