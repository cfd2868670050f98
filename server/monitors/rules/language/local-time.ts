/** What calendar and clock show somewhere, as a time in UTC that shows the same there. */

type LocalTime = (instant: Date) => Date

/** By time zone: a calendar takes tens of kilobytes, and each rule may name a zone hundreds of times. */
const kept = new Map<string, LocalTime>()

/** Undefined when it is no time zone of IANA. An offset such as +02:00 is none. */
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
  // There are some hundreds of them, each of which may be written in many ways.
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

/** By the names and rules of CEL: months and days of the month count from 0, and so do weekdays, from Sunday. */
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
