import { describe, expect, it } from 'vitest'
import { boundsOf, chosenTime, type Period, timeOptions, withTime } from './periods.ts'

const berlin = 'Europe/Berlin'

describe('the options', () => {
  it('have a period that was chosen elsewhere, once', () => {
    const labels = (period: Period) => timeOptions({ period }).map(({ label }) => label)
    expect(labels({ last: '45d' })).toContain('Last 45 days')
    expect(labels({ last: '1mo' })).toContain('Last month')
    expect(labels({ previous: 'year' })).toContain('Last year')
    expect(labels({ last: '7d' }).filter((label) => label === 'Last 7 days')).toHaveLength(1)
  })

  it('show what the filter has', () => {
    expect(chosenTime({})).toBe('')
    expect(chosenTime({ period: { previous: 'week', timezone: berlin } })).toBe('previous:week')
    expect(chosenTime({ until: '2026-11-01T00:00:00Z' })).toBe('dates')
  })
})

describe('choosing a time', () => {
  it('replaces any other time, and keeps the rest', () => {
    const dates = { text: 'refund', since: '2026-11-01T00:00:00Z', until: '2026-11-02T00:00:00Z' }
    const week = { text: 'refund', period: { current: 'week', timezone: berlin } }
    expect(withTime(dates, 'current:week', berlin)).toEqual(week)
    expect(withTime(week as never, '', berlin)).toEqual({ text: 'refund' })
    expect(withTime(week as never, 'dates', berlin)).toEqual({ text: 'refund' })
  })

  it('keeps a period from elsewhere that is chosen again', () => {
    const filter = { period: { last: '45d' } }
    expect(withTime(filter, 'last:45d', berlin)).toBe(filter)
  })
})

// The service's tests have the same cases. The service uses PostgreSQL's rules.
describe('the dates of a period', () => {
  const wednesday = '2026-04-01T10:30:00.000Z'
  it.each<[Period, string, string, string]>([
    [{ last: '90m' }, wednesday, '2026-04-01T09:00:00.000Z', wednesday],
    [{ last: '96h', timezone: berlin }, wednesday, '2026-03-28T10:30:00.000Z', wednesday],
    [{ last: '4d', timezone: berlin }, wednesday, '2026-03-28T11:30:00.000Z', wednesday],
    [{ last: '1w' }, wednesday, '2026-03-25T10:30:00.000Z', wednesday],
    [{ last: '1mo' }, '2026-03-31T12:00:00.000Z', '2026-02-28T12:00:00.000Z', '2026-03-31T12:00:00.000Z'],
    [
      { current: 'day', timezone: berlin },
      '2026-03-29T12:00:00Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ],
    [{ current: 'week', timezone: berlin }, wednesday, '2026-03-29T22:00:00.000Z', '2026-04-05T22:00:00.000Z'],
    [{ current: 'quarter' }, wednesday, '2026-04-01T00:00:00.000Z', '2026-07-01T00:00:00.000Z'],
    [
      { previous: 'day', timezone: 'America/New_York' },
      wednesday,
      '2026-03-31T04:00:00.000Z',
      '2026-04-01T04:00:00.000Z',
    ],
    [{ previous: 'month', timezone: berlin }, wednesday, '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z'],
    [{ previous: 'quarter', timezone: berlin }, wednesday, '2025-12-31T23:00:00.000Z', '2026-03-31T22:00:00.000Z'],
    [{ previous: 'year' }, wednesday, '2025-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ])('%j at %s are %s and %s', (period, now, since, until) => {
    expect(boundsOf(period, new Date(now))).toEqual({ since, until })
  })
})
