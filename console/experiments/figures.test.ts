import { expect, it } from 'vitest'
import { formatDifference, formatInterval, formatLevel, formatP } from './figures.ts'

const rate = { kind: 'boolean' } as const
const score = { kind: 'numeric' } as const

it('shows rates as percentages and their differences in points', () => {
  expect(formatLevel(rate, 0.124)).toBe('12.4%')
  expect(formatDifference(rate, -0.156)).toBe('−15.6 points')
  expect(formatInterval(rate, { low: -0.156, high: 0.0409 })).toBe('−15.6 to +4.09 points')
})

it('shows scores and their differences as numbers', () => {
  expect(formatLevel(score, 3.45678)).toBe('3.457')
  expect(formatDifference(score, -1.5)).toBe('−1.5')
  expect(formatInterval(score, { low: -1, high: 1_204 })).toBe('−1 to +1,204')
})

it('does not show missing values as zero', () => {
  expect(formatLevel(rate, null)).toBe('–')
  expect(formatDifference(score, null)).toBe('–')
  expect(formatInterval(rate, null)).toBe('None yet')
  expect(formatDifference(score, 0)).toBe('0')
})

it('never shows a p-value of zero', () => {
  expect([0, 0.0004, 0.034, 1, null].map(formatP)).toEqual(['< 0.001', '< 0.001', '0.034', '1.000', '–'])
})
