// Values are rounded to about a hundred steps per decade, so that few counts can store their distribution: 1.00, 1.02,
// … 2.00, 2.05, … 5.00, 5.1, … 10. Integers up to 100 stay exact. Step numbers have the same order as their values.

import { type RawBuilder, sql } from 'kysely'

const stepsPerDecade = 160
/** Larger values are replaced with this one, so that their squares can be summed. */
const largest = 9e99
/** The squares of smaller values are replaced with 0, because PostgreSQL would report an underflow. */
const smallestSquared = 1e-99

/** Limits a value. */
export const limitedValue = (value: number): number => Math.max(-largest, Math.min(largest, value))

/** Limits a value in SQL, and keeps null. */
export const limited = (value: RawBuilder<unknown>): RawBuilder<number> => sql<number>`
  CASE WHEN abs(${value}) <= ${sql.lit(largest)} THEN ${value} ELSE sign(${value}) * ${sql.lit(largest)} END`

/** Returns the square of a limited value in SQL, or null. */
export const limitedSquare = (value: RawBuilder<unknown>): RawBuilder<number> => sql<number>`
  CASE WHEN abs(${value}) > ${sql.lit(largest)} THEN ${sql.lit(largest ** 2)}
    WHEN abs(${value}) >= ${sql.lit(smallestSquared)} THEN ${value} * ${value} END`

/**
 * The step of 1. It is high enough that the steps of small values are positive too, so that negative values can have
 * negative steps.
 */
const stepOfOne = 16_000

/** Returns the step of a value in SQL. */
export const stepOf = (value: RawBuilder<unknown>): RawBuilder<number> => {
  const size = sql`least(abs(${value}), ${sql.lit(largest)}::float8)`
  const decade = sql`floor(log(${size}))`
  const first = sql`${size} / power(10::float8, ${decade})`
  return sql<number>`(CASE WHEN ${size} < 1e-30 THEN 0 ELSE sign(${value}) * (${sql.lit(stepOfOne)} + ${decade} * ${sql.lit(stepsPerDecade)} +
    CASE WHEN ${first} < 2 THEN round((${first} - 1) * 50)
      WHEN ${first} < 5 THEN 50 + round((${first} - 2) * 20)
      ELSE 110 + round((${first} - 5) * 10) END) END)::smallint`
}

/** Rounds like PostgreSQL, which rounds halves to the even number. */
const round = (value: number): number => {
  const up = Math.round(value)
  return up - value === 0.5 && up % 2 === 1 ? up - 1 : up
}

/**
 * Returns the step of a value, like `stepOf` in SQL. Only values close to the middle between two steps can get
 * different results.
 */
export const stepOfValue = (value: number): number => {
  const size = Math.min(Math.abs(value), largest)
  if (size < 1e-30) return 0
  const decade = Math.floor(Math.log10(size))
  const first = size / 10 ** decade
  const within =
    first < 2 ? round((first - 1) * 50) : first < 5 ? 50 + round((first - 2) * 20) : 110 + round((first - 5) * 10)
  return Math.sign(value) * (stepOfOne + decade * stepsPerDecade + within)
}

export const valueOfStep = (step: number): number => {
  if (step === 0) return 0
  const above = Math.abs(step) - stepOfOne
  const decade = Math.floor(above / stepsPerDecade)
  const at = above - decade * stepsPerDecade
  const first = at < 50 ? 1 + at / 50 : at < 110 ? 2 + (at - 50) / 20 : 5 + (at - 110) / 10
  return Math.sign(step) * Number((first * 10 ** decade).toPrecision(12))
}
