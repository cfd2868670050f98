import { expect, it } from 'vitest'
import { byAttention, changeWords, marksOf, zOf } from './changes.ts'

const figure = (n: number, value: number | null) => ({ n, value })

it('compares rates, if there is enough data', () => {
  expect(zOf(figure(100, 0.06), figure(2_800, 0.05))).toBeCloseTo(0.45, 1)
  expect(zOf(figure(100, 0.5), figure(100, 0.2))).toBeCloseTo(4.45, 1)
  expect(zOf(figure(100, 0), figure(100, 0))).toBe(0)
  expect(zOf(figure(19, 1), figure(100, 0))).toBeUndefined()
  expect(zOf(figure(100, 1), figure(0, null))).toBeUndefined()
  expect(zOf(figure(100, 1), undefined)).toBeUndefined()
})

it('marks only changes that are unlikely to be chance', () => {
  expect(marksOf([2.1])).toEqual([true])
  // By chance, one of twenty values is this far off.
  expect(marksOf([2.1, ...Array.from({ length: 19 }, () => 0.3)]).some(Boolean)).toBe(false)
  expect(marksOf([4.5, ...Array.from({ length: 19 }, () => 0.3)]).filter(Boolean)).toHaveLength(1)
  expect(marksOf([undefined, -5])).toEqual([false, true])
  expect(marksOf([])).toEqual([])
})

it('says what changed', () => {
  expect(changeWords(figure(9, 1), figure(9, 0), { z: 3, isMarked: true })).toBe('Higher than before')
  expect(changeWords(figure(9, 1), figure(9, 0), { z: -3, isMarked: true })).toBe('Lower than before')
  expect(changeWords(figure(0, null), figure(9, 0), { z: undefined, isMarked: false })).toBe('Nothing scored')
  expect(changeWords(figure(9, 1), undefined, { z: undefined, isMarked: false })).toBeNull()
})

it('sorts by what needs attention', () => {
  const row = (name: string, z: number | undefined, more: object = {}) => ({
    name,
    z,
    isMarked: false,
    isSpike: false,
    now: figure(50, 0.1),
    ...more,
  })
  const rows = [
    row('empty', undefined, { now: figure(0, null) }),
    row('small', 0.2),
    row('marked', -3, { isMarked: true }),
    row('spike', 0.1, { isSpike: true }),
    row('large', 1.5),
    row('more marked', 5, { isMarked: true }),
  ]
  expect(rows.toSorted(byAttention).map(({ name }) => name)).toEqual([
    'spike',
    'more marked',
    'marked',
    'large',
    'small',
    'empty',
  ])
})
