import { describe, expect, it } from 'vitest'
import type { Trend } from '../monitors/queries.ts'
import { bySurprise, surpriseOf, wordOf } from './surprise.ts'

const day = (affected: number, notAffected: number): Trend['data'][number] => ({
  start: '',
  end: '',
  affected,
  notAffected,
  unscored: 0,
  failed: 0,
  affectedRate: null,
  low: null,
  high: null,
  meanScore: null,
  cost: null,
})

/** Returns a trend of the previous days, yesterday, and today so far. */
const trendOf = (before: [number, number][], yesterday: [number, number]): Trend => ({
  interval: 'day',
  timezone: 'UTC',
  corrected: null,
  data: [...before.map((counts) => day(...counts)), day(...yesterday), day(9, 1)],
})

const usual: [number, number][] = Array.from({ length: 28 }, () => [5, 95])

describe('the surprise of yesterday', () => {
  it('is zero if yesterday was like the days before, whatever happened today', () => {
    const surprise = surpriseOf(trendOf(usual, [6, 94]))
    expect(surprise.z).toBeCloseTo(0.45, 1)
    expect(wordOf(surprise)).toBeNull()
  })

  it('has the sign of the change', () => {
    expect(wordOf(surpriseOf(trendOf(usual, [20, 80])))).toBe('Higher than usual')
    expect(wordOf(surpriseOf(trendOf(usual, [1, 0])))).toBeNull()
    const many: [number, number][] = usual.map(() => [50, 50])
    expect(wordOf(surpriseOf(trendOf(many, [20, 80])))).toBe('Lower than usual')
  })

  it('is zero without data to compare, and says if nothing was scored', () => {
    expect(surpriseOf(trendOf([], [5, 5])).z).toBe(0)
    expect(
      surpriseOf(
        trendOf(
          usual.map(() => [0, 100]),
          [0, 100],
        ),
      ).z,
    ).toBe(0)
    expect(wordOf(surpriseOf(trendOf(usual, [0, 0])))).toBe('Nothing scored yesterday')
    expect(wordOf(surpriseOf(trendOf([], [0, 0])))).toBeNull()
  })

  it('sorts unusual monitors first, then usual ones, then those without scored results', () => {
    const rates = {
      'nothing yet': surpriseOf(trendOf([], [0, 0])),
      'as usual': surpriseOf(trendOf(usual, [5, 95])),
      'a little more': surpriseOf(trendOf(usual, [6, 94])),
      'Nothing scored yesterday': surpriseOf(trendOf(usual, [0, 0])),
      'many more': surpriseOf(trendOf(usual, [20, 80])),
    }
    const names = Object.entries(rates).toSorted(([, a], [, b]) => bySurprise(a, b))
    expect(names.map(([name]) => name)).toEqual([
      'many more',
      'Nothing scored yesterday',
      'a little more',
      'as usual',
      'nothing yet',
    ])
  })
})
