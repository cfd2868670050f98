import type { Clock } from '../../platform/clock.ts'

/** Tracks a pause during which an endpoint gets no requests. Each process has its own, measured by its own clock. */
export const openPause = (clock: Clock) => {
  let from = 0
  let until = 0
  const now = () => clock.now().getTime()

  /**
   * Returns the remaining time of the period. A period that starts in the future is ignored, because the clock was set
   * back.
   */
  const leftMs = (): number => {
    const instant = now()
    if (instant < from) until = 0
    return Math.max(0, until - instant)
  }

  /** Starts a period now, unless the current period lasts longer. */
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
