import { dayMs, minuteMs } from './durations.ts'
import { invalid } from './errors.ts'
import { timeZoneNames } from './time-zone-names.ts'

const canonicalOf = (timeZone: string): string => new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone

/** Returns a zone or link of the IANA database in its official spelling. Ignores case. */
export const findTimeZone = (written: string): string | undefined => {
  const name = timeZoneNames.get(written.toLowerCase())
  if (name === undefined) return undefined
  try {
    canonicalOf(name)
    return name
  } catch {
    // The list can be newer than the runtime's.
    return undefined
  }
}

/** Returns a zone like `findTimeZone`. Throws an error with its path in the request if it is unknown. */
export const readTimeZone = (written: string, path: string): string => {
  const name = findTimeZone(written)
  if (name === undefined) throw invalid(path, timeZoneFault)
  return name
}

export const timeZoneFault = 'must be an IANA name such as Europe/Berlin'

/** Returns whether two names refer to the same zone, such as UTC and Etc/UTC. */
export const isSameTimeZone = (a: string, b: string): boolean => a === b || canonicalOf(a) === canonicalOf(b)

/** A local time represented as if it were UTC: its UTC fields are the local ones. */
export type WallTime = Date

export type Zone = {
  wallTime: (instant: Date) => WallTime
  /**
   * Returns the UTC time of a local time. If a local time occurs twice, returns the first one. If a local time is
   * skipped, adds the length of the gap (02:30 becomes 03:30).
   */
  instantAt: (wall: WallTime) => Date
}

export const openZone = (timeZone: string): Zone => {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const offsetMs = (timeMs: number): number => {
    const whole = Math.floor(timeMs / 1_000) * 1_000
    const parts = Object.fromEntries(format.formatToParts(whole).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole
  }
  return {
    wallTime: (instant) => new Date(instant.getTime() + offsetMs(instant.getTime())),
    instantAt: (wall) => {
      const wallMs = wall.getTime()
      const [before, after] = [offsetMs(wallMs - dayMs), offsetMs(wallMs + dayMs)]
      const times = [wallMs - before, wallMs - after].filter((time) => time + offsetMs(time) === wallMs)
      return new Date(times.length > 0 ? Math.min(...times) : wallMs - before)
    },
  }
}

/** Returns the same local time on an earlier day, this many days ago. A day can have 23 to 25 hours. */
export const daysBefore = (instant: Date, days: number, { wallTime, instantAt }: Zone): Date =>
  instantAt(new Date(wallTime(instant).getTime() - days * dayMs))

/** Returns the next whole minute. */
export const minuteAfter = (instant: Date): Date => new Date((Math.floor(instant.getTime() / minuteMs) + 1) * minuteMs)
