import { describe, expect, it } from 'vitest'
import { instantIn, localIn, midnightIn } from './zones.ts'

describe('a local time', () => {
  it('is converted to an instant and back', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati']) {
      for (const local of ['2026-01-01T00:00', '2026-07-15T12:34', '2026-12-31T23:59']) {
        expect(localIn(instantIn(local, zone) ?? '', zone), zone).toBe(local)
      }
    }
    expect(instantIn('2026-07-15T12:00', 'Europe/Berlin')).toBe('2026-07-15T10:00:00.000Z')
    expect(instantIn('2026-07-15T12:00', 'America/New_York')).toBe('2026-07-15T16:00:00.000Z')
  })

  it('that occurs twice is the first of the two', () => {
    expect(instantIn('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
    expect(instantIn('2026-11-01T01:30', 'America/New_York')).toBe('2026-11-01T05:30:00.000Z')
  })

  it('that clocks skip comes after the change', () => {
    expect(instantIn('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
    expect(instantIn('2026-03-08T02:30', 'America/New_York')).toBe('2026-03-08T07:30:00.000Z')
  })

  it('next to a clock change is not shifted', () => {
    expect(instantIn('2026-10-25T01:59', 'Europe/Berlin')).toBe('2026-10-24T23:59:00.000Z')
    expect(instantIn('2026-10-25T03:00', 'Europe/Berlin')).toBe('2026-10-25T02:00:00.000Z')
    expect(instantIn('2026-03-29T01:59', 'Europe/Berlin')).toBe('2026-03-29T00:59:00.000Z')
    expect(instantIn('2026-03-29T03:00', 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z')
  })

  it('is undefined if there is none', () => {
    expect(instantIn('', 'UTC')).toBeUndefined()
    expect(localIn('', 'UTC')).toBe('')
  })
})

describe('midnight', () => {
  it('belongs to the day in the time zone', () => {
    const now = new Date('2026-11-25T23:30:00Z')
    expect(midnightIn('UTC', 0, now)).toBe('2026-11-25T00:00')
    expect(midnightIn('Europe/Berlin', 0, now)).toBe('2026-11-26T00:00')
    expect(midnightIn('Europe/Berlin', -7, now)).toBe('2026-11-19T00:00')
  })

  it('counts calendar days across a clock change', () => {
    expect(midnightIn('Europe/Berlin', -1, new Date('2026-10-26T12:00:00Z'))).toBe('2026-10-25T00:00')
    expect(midnightIn('Europe/Berlin', 1, new Date('2026-03-28T22:00:00Z'))).toBe('2026-03-29T00:00')
  })
})
