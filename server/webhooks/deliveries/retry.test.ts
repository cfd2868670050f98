import { expect, test } from 'vitest'
import { hourMs } from '../../platform/durations.ts'
import { retryDelayMs, retryDelaysMs } from './retry.ts'

test('eleven attempts in about a day, each delay within a tenth of its own', () => {
  expect(retryDelaysMs).toHaveLength(10)
  const total = retryDelaysMs.reduce((sum, delay) => sum + delay)
  expect(Math.abs(total - 24 * hourMs)).toBeLessThan(hourMs / 2)
  for (const [index, delay] of retryDelaysMs.entries()) {
    expect(retryDelayMs(index + 1, 0, 0)).toBe(Math.round(delay * 0.9))
    expect(retryDelayMs(index + 1, 0, 1)).toBe(Math.round(delay * 1.1))
  }
  expect(retryDelayMs(11, 0)).toBeUndefined()
})

test('a receiver gets no request for as long as it asks, and at least for the usual delay', () => {
  expect(retryDelayMs(1, hourMs, 0)).toBe(hourMs)
  expect(retryDelayMs(1, hourMs, 1)).toBe(Math.round(1.1 * hourMs))
  expect(retryDelayMs(10, 1_000, 0)).toBe(retryDelayMs(10, 0, 0))
  expect(retryDelayMs(11, hourMs)).toBeUndefined()
})
