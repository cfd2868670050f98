import { expect, it } from 'vitest'
import {
  codeOfRange,
  comparedDays,
  compareToOf,
  comparisonInWords,
  daysOf,
  intervalOf,
  rangeInWords,
  rangeOfDays,
  readRange,
  windowOf,
} from './range.ts'
import { readRangeSearch } from './range-search.ts'

const zone = 'Europe/Berlin'

it('reads and writes periods of the address', () => {
  for (const code of ['last:7d', 'last:6mo', 'current:week', 'previous:quarter', '2026-10-20..2026-10-31']) {
    expect(codeOfRange(readRange(code, zone) ?? {}, zone), code).toBe(code)
  }
  for (const code of ['last:', 'last:7x', 'current:hour', '2026-02-30..2026-03-01', '2026-11-02..2026-11-01', '..']) {
    expect(readRange(code, zone), code).toBeUndefined()
  }
  expect(readRangeSearch({ time: 'last:7d', compare: 'previous_year', other: 1 })).toEqual({
    time: 'last:7d',
    compare: 'previous_year',
  })
  expect(readRangeSearch({ time: 7, compare: 'yesterday' })).toEqual({})
})

it('includes the last day, even across a clock change', () => {
  expect(rangeOfDays('2026-10-24', '2026-10-25', zone)).toEqual({
    since: '2026-10-23T22:00:00.000Z',
    until: '2026-10-25T23:00:00.000Z',
  })
})

it('names the days of a period', () => {
  const now = new Date('2026-11-21T10:30:00Z')
  expect(daysOf({ period: { last: '7d', timezone: zone } }, zone, now)).toEqual({
    from: '2026-11-14',
    to: '2026-11-21',
  })
  expect(daysOf({ period: { previous: 'month', timezone: zone } }, zone, now)).toEqual({
    from: '2026-10-01',
    to: '2026-10-31',
  })
})

it('says a period in words', () => {
  const said = (code: string) => rangeInWords(readRange(code, zone) ?? {}, zone)
  expect(said('last:7d')).toBe('Last 7 days')
  expect(said('current:year')).toBe('This year')
  expect(said('2026-11-01..2026-11-14')).toBe('Nov 1 – Nov 14, 2026')
  expect(said('2025-12-31..2026-01-01')).toBe('Dec 31, 2025 – Jan 1, 2026')
  expect(said('2026-11-01..2026-11-01')).toBe('Nov 1, 2026')
  expect(rangeInWords({}, zone)).toBe('Any time')
})

it('compares with an earlier period, or with any days', () => {
  const october = '2026-10-01..2026-10-31'
  expect(readRangeSearch({ compare: october })).toEqual({ compare: october })
  expect(readRangeSearch({ compare: 'october..now' })).toEqual({})
  expect(compareToOf('none', zone)).toBeUndefined()
  expect(compareToOf('previous_year', zone)).toBe('previous_year')
  expect(compareToOf(october, zone)).toEqual({ since: '2026-09-30T22:00:00.000Z', until: '2026-10-31T23:00:00.000Z' })
  expect(compareToOf('2026-10-31..2026-10-01', zone)).toBeUndefined()
  expect(comparisonInWords('none')).toBe('')
  expect(comparisonInWords('previous_year')).toBe(' vs. previous year')
  expect(comparisonInWords(october)).toBe(' vs. Oct 1 – Oct 31, 2026')
  expect(comparisonInWords('2026-10-31..2026-10-01')).toBe('')
  const week = { from: '2026-11-08', to: '2026-11-14' }
  expect(comparedDays('none', week)).toEqual({ from: '2026-11-01', to: '2026-11-07' })
  expect(comparedDays(october, week)).toEqual({ from: '2026-10-01', to: '2026-10-31' })
  expect(comparedDays('none', { from: '', to: '2026-11-14' })).toEqual({ from: '', to: '' })
})

it('shows hours, days, or weeks, and nothing from the future', () => {
  const now = new Date('2026-11-21T10:30:00Z')
  const rangeOf = (code: string) => readRange(code, zone) ?? {}
  const intervals = ['current:day', 'last:24h', 'last:7d', 'last:90d', 'current:year', 'previous:year', 'x'].map(
    (code) => intervalOf(rangeOf(code), now),
  )
  expect(intervals).toEqual(['hour', 'hour', 'day', 'day', 'week', 'week', 'week'])
  expect(windowOf(rangeOf('current:month'), now)).toEqual({
    since: '2026-10-31T23:00:00.000Z',
    until: now.toISOString(),
  })
})
