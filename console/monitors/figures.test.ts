import { describe, expect, it } from 'vitest'
import { allOf, costOf, filterOf, rateOf, totalsOf } from './figures.ts'

const day = (affected: number, notAffected: number, unscored = 0, failed = 0) => ({
  affected,
  notAffected,
  unscored,
  failed,
})

describe('the rate of a monitor', () => {
  it('only counts scored results', () => {
    const totals = totalsOf([day(1, 2, 3, 4), day(1, 0, 1)])
    expect(totals).toEqual({ affected: 2, notAffected: 2, unscored: 4, failed: 4 })
    expect(allOf(totals)).toBe(12)
    expect(rateOf(totals)).toMatchObject({ rate: 0.5, n: 4 })
  })

  it('is unknown, not zero, without scored results', () => {
    expect(rateOf(day(0, 0, 5, 5))).toEqual({ rate: null, n: 0 })
    expect(totalsOf([])).toEqual(day(0, 0))
  })
})

it('adds up the known costs, and has none if no price is known', () => {
  expect(costOf([{ cost: 0.25 }, { cost: null }, { cost: 0.5 }])).toBe(0.75)
  expect(costOf([{ cost: 0 }])).toBe(0)
  expect(costOf([{ cost: null }])).toBeNull()
  expect(costOf([])).toBeNull()
})

it('filters conversations by the result, within the period if there is one', () => {
  expect(filterOf('m', 'affected')).toEqual({ monitors: [{ id: 'm', result: 'affected' }] })
  expect(filterOf('m', 'unscored', { since: '2026-11-01T00:00:00Z', until: undefined })).toEqual({
    monitors: [{ id: 'm', result: 'unscored' }],
    since: '2026-11-01T00:00:00Z',
  })
})
