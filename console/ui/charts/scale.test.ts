import { describe, expect, it } from 'vitest'
import { isWithin, longTime, middleOf, percentile90, percentTick, shortTime, timeScale, valueScale } from './scale.ts'

const localDay = (day: number) => new Date(2026, 10, day).toISOString()
const days = [20, 21, 22].map((day) => ({ start: localDay(day), end: localDay(day + 1) }))

describe('a time axis', () => {
  it('reaches from the start of the first span to the end of the last', () => {
    const scale = timeScale(days, 300)
    expect(days.map((span) => Math.round(middleOf(scale, span)))).toEqual([50, 150, 250])
    expect(isWithin(days, localDay(20))).toBe(true)
    expect(isWithin(days, localDay(24))).toBe(false)
  })

  it('names days, hours, and weeks', () => {
    const [day] = days
    const hour = { start: new Date(2026, 10, 20, 7).toISOString(), end: new Date(2026, 10, 20, 8).toISOString() }
    const week = { start: localDay(16), end: localDay(23) }
    expect(day && longTime(day)).toBe('Fri, Nov 20')
    expect(longTime(hour)).toBe('Nov 20, 07:00')
    expect(longTime(week)).toBe('Nov 16 – Nov 22')
    expect(day && shortTime(day, days)).toBe('Nov 20')
    expect(shortTime(hour, [hour])).toBe('Nov 20, 07:00')
  })

  it('treats a day with a clock change as one day', () => {
    for (const hours of [23, 25]) {
      const start = new Date(2026, 9, 25)
      const end = new Date(start.getTime() + hours * 3_600_000)
      expect(longTime({ start: start.toISOString(), end: end.toISOString() })).toBe('Sun, Oct 25')
    }
  })
})

describe('a value axis', () => {
  it('has a height even if all values are equal', () => {
    const scale = valueScale([0, 0], 100)
    expect(scale(0)).toBe(100)
    expect(scale.domain()).toEqual([0, 1])
  })

  it('distinguishes small percentages', () => {
    expect([0, 0.5, 0.0025, 0.123456].map(percentTick)).toEqual(['0%', '50%', '0.25%', '12.3%'])
  })

  it('ignores the widest intervals', () => {
    expect(percentile90([1, 1, 1, 1, 1, 1, 1, 1, 1, 100])).toBe(1)
    expect(percentile90([5])).toBe(5)
    expect(percentile90([])).toBe(0)
  })
})
