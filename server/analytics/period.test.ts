import { expect, it } from 'vitest'
import { earlierPeriod } from './period.ts'

const between = (since: string, until: string) => ({ since: new Date(since), until: new Date(until) })
const shown = ({ since, until }: { since: Date; until: Date }) => [since.toISOString(), until.toISOString()]

const utc = { period: undefined, timezone: 'UTC' }
const berlin = { period: undefined, timezone: 'Europe/Berlin' }

it('the period before has the same length', () => {
  const within = between('2026-03-08T00:00:00Z', '2026-03-15T00:00:00Z')
  expect(shown(earlierPeriod('previous_period', within, utc))).toEqual([
    '2026-03-01T00:00:00.000Z',
    '2026-03-08T00:00:00.000Z',
  ])
  const hours = between('2026-03-08T10:15:00Z', '2026-03-08T13:15:00Z')
  expect(shown(earlierPeriod('previous_period', hours, utc))).toEqual([
    '2026-03-08T07:15:00.000Z',
    '2026-03-08T10:15:00.000Z',
  ])
})

it('the period before has as many local days, although clocks change', () => {
  // Clocks change on 29 March.
  const within = between('2026-03-28T23:00:00Z', '2026-03-30T22:00:00Z')
  expect(shown(earlierPeriod('previous_period', within, berlin))).toEqual([
    '2026-03-26T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
  ])
})

it('the current month is compared with the same part of the month before', () => {
  const period = { current: 'month', timezone: 'UTC' } as const
  const within = between('2026-03-01T00:00:00Z', '2026-03-31T12:00:00Z')
  expect(shown(earlierPeriod('previous_period', within, { period, timezone: 'UTC' }))).toEqual([
    '2026-02-01T00:00:00.000Z',
    '2026-02-28T12:00:00.000Z',
  ])
})

it('the previous quarter is compared with the one before, and anything with a year ago', () => {
  const period = { previous: 'quarter', timezone: 'UTC' } as const
  const within = between('2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z')
  expect(shown(earlierPeriod('previous_period', within, { period, timezone: 'UTC' }))).toEqual([
    '2025-10-01T00:00:00.000Z',
    '2026-01-01T00:00:00.000Z',
  ])
  expect(shown(earlierPeriod('previous_year', within, utc))).toEqual([
    '2025-01-01T00:00:00.000Z',
    '2025-04-01T00:00:00.000Z',
  ])
  const leap = between('2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z')
  expect(shown(earlierPeriod('previous_year', leap, utc))[0]).toBe('2023-02-28T00:00:00.000Z')
})
