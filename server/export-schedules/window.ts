import { daysBefore, openZone } from '../platform/time-zone.ts'
import type { WindowRule } from './queries.ts'

type Windowed = {
  windowRule: WindowRule
  settleMinutes: number
  coveredUntil: Date
  config: { timezone: string }
}

/**
 * The calls that a run of that instant is of, by when they started. It ends before the instant, by the time that calls
 * need to end, arrive and be evaluated. Undefined when there is nothing between its ends.
 */
export const windowOf = (schedule: Windowed, plannedFor: Date): { since: Date; until: Date } | undefined => {
  const { windowRule, settleMinutes, coveredUntil, config } = schedule
  const until = new Date(plannedFor.getTime() - settleMinutes * 60_000)
  const since =
    windowRule.kind === 'since_last_run'
      ? coveredUntil
      : 'hours' in windowRule
        ? new Date(until.getTime() - windowRule.hours * 3_600_000)
        : daysBefore(until, windowRule.days, openZone(config.timezone))
  return since < until ? { since, until } : undefined
}
