import { daysBefore, openZone } from '../platform/time-zone.ts'
import type { WindowRule } from './queries.ts'

type Windowed = {
  windowRule: WindowRule
  settleMinutes: number
  coveredUntil: Date
  config: { timezone: string }
}

/**
 * Returns the period of a run, which selects calls by their start times. It ends some time before the run, because
 * calls need time to end, arrive, and be evaluated. Returns undefined if the period is empty.
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
