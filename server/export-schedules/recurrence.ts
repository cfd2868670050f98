// Calculates the run times of a schedule: local times in its time zone.
import { hourMs } from '../platform/durations.ts'
import { minuteAfter, openZone, type Zone } from '../platform/time-zone.ts'
import type { Recurrence } from './queries.ts'

/** The order starts with Sunday, as in Date. */
export const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

/** The number of hours exceeds the time between two runs, even across clock changes. */
const reachHours = { hour: 3, day: 3 * 24, week: 9 * 24, month: 34 * 24 }

const isItsDay = (recurrence: Exclude<Recurrence, { every: 'hour' }>, date: Date): boolean => {
  if (recurrence.every === 'day') return true
  if (recurrence.every === 'week') return weekdays[date.getUTCDay()] === recurrence.weekday
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.getUTCDate() === Math.min(recurrence.day, lastDay)
}

const minuteOfHourAfter = (minute: number, after: Date, { wallTime }: Zone): Date => {
  // The search goes minute by minute, because some time zones change by half an hour.
  let next = minuteAfter(after)
  while (wallTime(next).getUTCMinutes() !== minute) next = minuteAfter(next)
  return next
}

const plannedInZone = (recurrence: Recurrence, zone: Zone, after: Date): Date => {
  if (recurrence.every === 'hour') return minuteOfHourAfter(recurrence.minute, after, zone)
  const [hour = 0, minute = 0] = recurrence.at.split(':').map(Number)
  const wall = zone.wallTime(after)
  // The search starts with the day before, because a clock change can move its run past midnight.
  for (let days = -1; ; days++) {
    const date = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate() + days))
    if (!isItsDay(recurrence, date)) continue
    const planned = zone.instantAt(new Date(date.getTime() + (hour * 60 + minute) * 60_000))
    if (planned > after) return planned
  }
}

/** Returns the next run time. */
export const plannedAfter = (recurrence: Recurrence, timezone: string, after: Date): Date =>
  plannedInZone(recurrence, openZone(timezone), after)

/** Returns the latest run time in the past. */
export const latestPlanned = (recurrence: Recurrence, timezone: string, now: Date): Date => {
  const zone = openZone(timezone)
  let latest = new Date(now.getTime() - reachHours[recurrence.every] * hourMs)
  for (let next = latest; next <= now; next = plannedInZone(recurrence, zone, latest)) latest = next
  return latest
}
