import { describe, expect, it } from 'vitest'
import { dayMs } from '../../platform/durations.ts'
import { coverageOf, hasWholeHours } from './coverage.ts'

const day = new Date('2026-03-10T00:00:00Z')
const at = (time: string) => new Date(`2026-03-10T${time}:00Z`)
const spell = (time: Date | undefined) => time?.toISOString().slice(11, 16) ?? 'open'

/** Returns the interval of each hour, or a dot for hours that are read from conversations. */
const shown = ({ days, ranges }: ReturnType<typeof coverageOf>) => ({
  hours: [...days.values()].map((hours) => [...hours].map((interval) => (interval < 0 ? '.' : interval)).join('')),
  ranges: ranges.map(({ since, until }) => `${spell(since)}-${spell(until)}`),
})

const period = { since: at('01:30'), until: at('10:15'), bounds: undefined }
const stored = { days: [day], changed: [] }

describe('a period', () => {
  it('is read from conversations before anything is stored', () => {
    expect(shown(coverageOf(period, { days: [], changed: [] }))).toEqual({ hours: [], ranges: ['01:30-10:15'] })
  })

  it('is read from sums of whole hours without changes, and otherwise from conversations', () => {
    expect(shown(coverageOf(period, stored))).toEqual({
      hours: ['..00000000..............'],
      ranges: ['01:30-02:00', '10:00-10:15'],
    })
    const changed = [at('09:00'), at('02:00'), at('05:00'), at('12:00')]
    expect(shown(coverageOf(period, { days: [day], changed }))).toEqual({
      hours: ['...00.000...............'],
      ranges: ['01:30-03:00', '05:00-06:00', '09:00-10:15'],
    })
  })

  it('of less than an hour is read from conversations', () => {
    const short = { since: at('01:10'), until: at('01:50'), bounds: undefined }
    expect(shown(coverageOf(short, stored))).toEqual({ hours: [], ranges: ['01:10-01:50'] })
  })

  it('without ends has ranges without ends', () => {
    const open = { since: undefined, until: undefined, bounds: undefined }
    expect(shown(coverageOf(open, { days: [day], changed: [at('05:00')] }))).toEqual({
      hours: ['00000.000000000000000000'],
      ranges: ['open-00:00', '05:00-06:00', '00:00-open'],
    })
  })

  it('reads hours in which an interval starts from conversations', () => {
    const bounds = [at('01:30'), at('04:30'), at('07:00'), at('10:15')]
    expect(shown(coverageOf({ ...period, bounds }, stored))).toEqual({
      hours: ['..00.11222..............'],
      ranges: ['01:30-02:00', '04:00-05:00', '10:00-10:15'],
    })
  })

  it('reads days without sums from conversations', () => {
    const later = (days: number) => new Date(day.getTime() + days * dayMs)
    const { days, ranges } = coverageOf(
      { since: day, until: later(5), bounds: undefined },
      { days: [day, later(1), later(3), later(4)], changed: [] },
    )
    expect([...days.keys()]).toEqual([0, 1, 3, 4].map((at) => later(at).getTime()))
    expect(ranges).toEqual([{ since: later(2), until: later(3) }])
  })

  it('reads days as a whole from sums, if asked to', () => {
    const next = new Date(day.getTime() + dayMs)
    const end = new Date(day.getTime() + 2 * dayMs)
    const both = { days: [day, next], changed: [] }
    const covered = (since: Date, changed: Date[], bounds?: Date[]) =>
      coverageOf({ since, until: end, bounds }, { ...both, changed }, { wholeDays: true })
    expect([...covered(day, []).days.keys()]).toEqual([day.getTime(), next.getTime()])
    expect(covered(at('03:00'), [])).toMatchObject({ ranges: [{ since: at('03:00'), until: next }] })
    expect([...covered(day, [at('05:00')]).days.keys()]).toEqual([next.getTime()])
    expect(covered(day, [], [day, at('22:00'), end]).ranges).toEqual([{ since: day, until: next }])
  })

  it('with few hours of sums is read as one range', () => {
    const later = (days: number) => new Date(day.getTime() + days * dayMs)
    const long = { since: day, until: later(5), bounds: undefined }
    expect(coverageOf(long, { days: [later(1), later(3)], changed: [] })).toEqual({
      days: new Map(),
      ranges: [{ since: day, until: later(5) }],
    })
  })
})

it('knows zones with hours that start within hours of UTC', () => {
  const year = { since: new Date('2026-01-01Z'), until: new Date('2027-01-01Z') }
  expect(['UTC', 'Europe/Berlin', 'America/New_York'].every((zone) => hasWholeHours(zone, year))).toBe(true)
  expect(['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe'].some((zone) => hasWholeHours(zone, year))).toBe(
    false,
  )
  expect(hasWholeHours('Europe/Berlin', { since: undefined, until: undefined })).toBe(false)
})
