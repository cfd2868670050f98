import type { Clock } from '../../platform/clock.ts'

/** A while in which an endpoint is not asked. Each process has its own, by its own clock. */
export const openRest = (clock: Clock) => {
  let from = 0
  let until = 0
  const now = () => clock.now().getTime()

  /** Nothing of one that would begin only later: the clock was set back since. */
  const leftMs = (): number => {
    const instant = now()
    if (instant < from) until = 0
    return Math.max(0, until - instant)
  }

  /** So long from now, unless it is longer already. */
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
