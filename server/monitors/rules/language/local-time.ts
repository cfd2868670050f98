/** Returns a zone's local time, as the UTC time with the same fields. */

type LocalTime = (instant: Date) => Date

/**
 * The cached functions by time zone. A calendar takes tens of kilobytes, and each rule can contain a zone hundreds of
 * times.
 */
const kept = new Map<string, LocalTime>()

/** Returns undefined unless it is an IANA time zone. An offset such as +02:00 is not one. */
export const localTime = (timeZone: string): LocalTime | undefined => {
  if (!/^[A-Za-z]/.test(timeZone)) return undefined
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
  // There are a few hundred time zones, each with many spellings.
  const { timeZone: name } = format.resolvedOptions()
  const known = kept.get(name)
  if (known) return known
  const read: LocalTime = (instant) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
      format.format(instant).match(/\d+/g) ?? []
    ).map(Number)
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second, instant.getUTCMilliseconds()))
  }
  kept.set(name, read)
  return read
}

/**
 * The functions have CEL's names and rules: months, days of the month, and weekdays (starting on Sunday) are counted
 * from 0.
 */
export const timeParts = {
  getFullYear: (date: Date) => BigInt(date.getUTCFullYear()),
  getMonth: (date: Date) => BigInt(date.getUTCMonth()),
  getDate: (date: Date) => BigInt(date.getUTCDate()),
  getDayOfMonth: (date: Date) => BigInt(date.getUTCDate() - 1),
  getDayOfWeek: (date: Date) => BigInt(date.getUTCDay()),
  getHours: (date: Date) => BigInt(date.getUTCHours()),
  getMinutes: (date: Date) => BigInt(date.getUTCMinutes()),
  getSeconds: (date: Date) => BigInt(date.getUTCSeconds()),
  getMilliseconds: (date: Date) => BigInt(date.getUTCMilliseconds()),
}
export type TimePart = keyof typeof timeParts
