import { findTimeZone, openZone } from '../platform/time-zone.ts'
import { type Called, WronglyCalled } from './call.ts'

const unitMs = { h: 3_600_000, d: 86_400_000 }

/** Parses a time, a date (its start in the time zone), or a period before now. */
export const readWhen = (name: string, given: string, timeZone: string, now: Date): string => {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(given) ?? []
  if (count) return new Date(now.getTime() - Number(count) * unitMs[unit as 'h' | 'd']).toISOString()
  const utc = Date.parse(given)
  if (/^\d{4}-\d\d-\d\d$/.test(given) && new Date(utc).toJSON()?.startsWith(given)) {
    return openZone(timeZone).instantAt(new Date(utc)).toISOString()
  }
  if (/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/i.test(given) && !Number.isNaN(utc)) return new Date(utc).toISOString()
  throw new WronglyCalled(
    `--${name} must be a date, a time with an offset or Z, or a period such as 30d, not ${JSON.stringify(given)}.`,
  )
}

/** Returns the requested period. */
export const periodOf = ({ text }: Called, now: Date) => {
  const timezone = text('timezone') ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  if (findTimeZone(timezone) === undefined)
    throw new WronglyCalled('--timezone must be an IANA name such as Europe/Berlin.')
  const until = text('until')
  return {
    since: readWhen('since', text('since') ?? '30d', timezone, now),
    until: until === undefined ? now.toISOString() : readWhen('until', until, timezone, now),
    timezone,
  }
}
