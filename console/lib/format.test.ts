import { describe, expect, it } from 'vitest'
import { formatAgo, formatCount, formatDay, formatDayTime, formatNumber, formatWeekday } from './format.ts'

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
})
