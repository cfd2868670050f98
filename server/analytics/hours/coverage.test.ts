import { describe, expect, it } from 'vitest'
import { coverageOf, hasWholeHours } from './coverage.ts'

const at = (time: string) => new Date(`2026-03-10T${time}:00Z`)
const shown = ({ hours, ranges }: ReturnType<typeof coverageOf>) => {
  const spell = (time: Date | undefined) => time?.toISOString().slice(11, 16) ?? 'open'
  return {
    hours: hours && `${spell(hours.since)}-${spell(hours.until)} except ${hours.except.map(spell).join(' ')}`.trim(),
    ranges: ranges.map(({ since, until }) => `${spell(since)}-${spell(until)}`),
  }
}

const day = { since: at('01:30'), until: at('10:15'), bounds: undefined }

describe('a period', () => {
  it('is read from rows before anything is built', () => {
    expect(shown(coverageOf(day, { builtSince: undefined, changed: [] }))).toEqual({
      hours: undefined,
      ranges: ['01:30-10:15'],
    })
  })

  it('is read from sums of whole hours without changes, and else from rows', () => {
    expect(shown(coverageOf(day, { builtSince: null, changed: [] }))).toEqual({
      hours: '02:00-10:00 except',
      ranges: ['01:30-02:00', '10:00-10:15'],
    })
    const changed = [at('09:00'), at('02:00'), at('05:00'), at('12:00')]
    expect(shown(coverageOf(day, { builtSince: null, changed }))).toEqual({
      hours: '02:00-10:00 except 02:00 05:00 09:00',
      ranges: ['01:30-03:00', '05:00-06:00', '09:00-10:15'],
    })
    expect(shown(coverageOf(day, { builtSince: at('08:00'), changed: [at('02:00')] }))).toEqual({
      hours: '08:00-10:00 except',
      ranges: ['01:30-08:00', '10:00-10:15'],
    })
  })

  it('of less than an hour is read from rows', () => {
    const short = { since: at('01:10'), until: at('01:50'), bounds: undefined }
    expect(shown(coverageOf(short, { builtSince: null, changed: [] }))).toEqual({
      hours: undefined,
      ranges: ['01:10-01:50'],
    })
  })

  it('without ends has hours without ends', () => {
    const open = { since: undefined, until: undefined, bounds: undefined }
    expect(shown(coverageOf(open, { builtSince: null, changed: [at('05:00')] }))).toEqual({
      hours: 'open-open except 05:00',
      ranges: ['05:00-06:00'],
    })
    expect(shown(coverageOf(open, { builtSince: at('08:00'), changed: [] }))).toEqual({
      hours: '08:00-open except',
      ranges: ['open-08:00'],
    })
  })

  it('reads hours in which an interval starts from rows', () => {
    const bounds = [at('01:30'), at('04:30'), at('10:15')]
    expect(shown(coverageOf({ ...day, bounds }, { builtSince: null, changed: [] }))).toEqual({
      hours: '02:00-10:00 except 04:00',
      ranges: ['01:30-02:00', '04:00-05:00', '10:00-10:15'],
    })
  })
})

it('knows zones whose hours start within hours of UTC', () => {
  const year = { since: new Date('2026-01-01Z'), until: new Date('2027-01-01Z') }
  expect(['UTC', 'Europe/Berlin', 'America/New_York'].every((zone) => hasWholeHours(zone, year))).toBe(true)
  expect(['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe'].some((zone) => hasWholeHours(zone, year))).toBe(
    false,
  )
  expect(hasWholeHours('Europe/Berlin', { since: undefined, until: undefined })).toBe(false)
})
