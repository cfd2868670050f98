import { describe, expect, it } from 'vitest'
import {
  formatAgo,
  formatBytes,
  formatClock,
  formatCount,
  formatDay,
  formatDayTime,
  formatDuration,
  formatMoment,
  formatMonth,
  formatMs,
  formatNumber,
  formatPercent,
  formatPoints,
  formatWeekday,
  plural,
  sentenceCase,
  signedPoints,
} from './format.ts'

describe('numbers and dates', () => {
  it('match Intl', () => {
    const count = new Intl.NumberFormat('en')
    for (const value of [0, 7, 999, 1_000, 1_204, 999_999, 1_234_567, -1_234]) {
      expect(formatCount(value)).toBe(count.format(value))
    }
    const precise = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
    for (const value of [0, 0.000_000_2, 0.123_456, 12.345_6, 999.96, 12_345, -1_234.56, 3e22]) {
      expect(formatNumber(value)).toBe(precise.format(value))
    }
    const dateOf = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en', options)
    const [month, day] = ['short', 'numeric'] as const
    for (const iso of ['2026-03-05T07:09:00Z', '2026-12-31T23:59:59Z']) {
      const date = new Date(iso)
      expect(formatWeekday(date)).toBe(dateOf({ weekday: 'short', month, day }).format(date))
      expect(formatDay(iso)).toBe(dateOf({ month, day, year: 'numeric' }).format(date))
      const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
      expect(formatDayTime(date)).toBe(dateOf({ month, day, ...time }).format(date))
    }
  })

  it('are relative to now', () => {
    const now = Date.parse('2026-11-25T12:00:00Z')
    const ago = (seconds: number) => formatAgo(new Date(now + seconds * 1_000).toISOString(), now)
    expect([-59, -60, -7_200, -86_400, -200_000, 90, 3_600, 86_400].map(ago)).toEqual([
      'just now',
      '1 minute ago',
      '2 hours ago',
      'yesterday',
      '2 days ago',
      'in 2 minutes',
      'in 1 hour',
      'tomorrow',
    ])
  })

  it('round up to the next unit', () => {
    const now = Date.parse('2026-11-25T12:00:00Z')
    const ago = (seconds: number) => formatAgo(new Date(now + seconds * 1_000).toISOString(), now)
    expect([-59.6, -3_590, -86_200].map(ago)).toEqual(['1 minute ago', '1 hour ago', 'yesterday'])
    expect([999_400, 999_600, 999_999_999].map(formatBytes)).toEqual(['999 kB', '1 MB', '1 GB'])
    expect([999.4, 999.6].map(formatMs)).toEqual(['999 ms', '1 s'])
    expect([59.6, 3_599.6].map(formatDuration)).toEqual(['1 m', '1 h'])
  })

  it('name the year only if it is not the current one', () => {
    const now = new Date(2026, 5, 1)
    expect(formatMoment(new Date(2026, 0, 2, 3, 4).toISOString(), now)).toBe('Jan 2, 03:04')
    expect(formatMoment(new Date(2025, 11, 31, 23, 59).toISOString(), now)).toBe('Dec 31, 2025')
    expect(formatMonth('2026-11')).toBe('November 2026')
  })
})

describe('a percentage', () => {
  it('has enough digits to distinguish small values, and no trailing zeros', () => {
    const shares = [0, 0.124, 0.1, 0.0999999, 0.01234, 0.5, 1]
    expect(shares.map(formatPercent)).toEqual(['0%', '12.4%', '10%', '10%', '1.23%', '50%', '100%'])
  })

  it('is not zero if there are a few among very many', () => {
    expect(formatPercent(1 / 50_000)).toBe('0.002%')
    expect(formatPercent(-1 / 50_000)).toBe('−0.002%')
  })

  it('keeps its digits at the ends of an interval, and its sign in a difference', () => {
    expect([0.1, 0.151, 0.0523].map(formatPoints)).toEqual(['10.0', '15.1', '5.23'])
    expect([0.012, -0.004, 0].map(signedPoints)).toEqual(['+1.20', '−0.40', '0.0'])
  })
})

describe('words', () => {
  it('agree with their number', () => {
    expect([plural(1, 'call'), plural(0, 'call'), plural(1_204, 'call')]).toEqual(['1 call', '0 calls', '1,204 calls'])
    expect(plural(2, 'delivery', 'deliveries')).toBe('2 deliveries')
    expect(sentenceCase('not_affected')).toBe('Not affected')
  })

  it('show times in a recording', () => {
    expect([-1, 7.9, 760, 3_723].map(formatClock)).toEqual(['0:00', '0:07', '12:40', '1:02:03'])
    expect([12, 252, 240, 3_840, 7_200].map(formatDuration)).toEqual(['12 s', '4 m 12 s', '4 m', '1 h 4 m', '2 h'])
  })
})
