// Converts between local times in a time zone and instants.

import { once } from './once.ts'

const dayMs = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns a format. It is cached, because creating one is slow and a chart formats thousands of times. */
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const made =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  formats.set(timeZone, made)
  return made
}

const ownFormat = once(() => new Intl.DateTimeFormat('en'))

/** Returns the viewer's time zone, or UTC if the browser reports a zone that it can't use, such as `Etc/Unknown`. */
export const ownZone = (): string => {
  const { timeZone } = ownFormat().resolvedOptions()
  try {
    formatOf(timeZone)
    return timeZone
  } catch {
    return 'UTC'
  }
}

/** Returns the zone's offset from UTC at this instant, in milliseconds. */
const offsetAt = (instant: number, timeZone: string): number => {
  const parts = formatOf(timeZone).formatToParts(instant)
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((item) => item.type === type)?.value)
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return shown - Math.floor(instant / 1_000) * 1_000
}

/**
 * Returns the instant of a local time such as `2026-11-21T10:30`. If clocks show that time twice, returns the first
 * instant. If clocks skip it, returns the instant at which it would have occurred without the change.
 */
export const instantIn = (local: string, timeZone: string): string | undefined => {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return undefined
  const [before, after] = [offsetAt(asUtc - dayMs, timeZone), offsetAt(asUtc + dayMs, timeZone)]
  const isEarlier = offsetAt(asUtc - before, timeZone) === before || offsetAt(asUtc - after, timeZone) !== after
  return new Date(asUtc - (isEarlier ? before : after)).toISOString()
}

/** Returns an instant's local time, such as `2026-11-21T10:30`. */
export const localIn = (iso: string, timeZone: string): string => {
  const instant = Date.parse(iso)
  return Number.isNaN(instant) ? '' : new Date(instant + offsetAt(instant, timeZone)).toISOString().slice(0, 16)
}

/** Returns midnight, in the time zone, of the day that is `days` days from today. */
export const midnightIn = (timeZone: string, days: number, now = new Date()): string => {
  const [day = ''] = localIn(now.toISOString(), timeZone).split('T')
  return `${new Date(Date.parse(`${day}T00:00Z`) + days * dayMs).toISOString().slice(0, 10)}T00:00`
}
