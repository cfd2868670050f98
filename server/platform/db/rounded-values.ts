// Values rounded to about a hundred steps per decade, so that their distribution fits into few counts: 1.00, 1.02, … 2.00,
// 2.05, … 5.00, 5.1, … 10. Whole numbers up to 100 stay exact. Numbers of steps have the order of their values.

import { type RawBuilder, sql } from 'kysely'

const stepsPerDecade = 160
/** The step of 1, so that those of small values are positive as well, and those of negative values their negatives. */
const stepOfOne = 16_000

/** Returns the step of a value. */
export const stepOf = (value: RawBuilder<unknown>): RawBuilder<number> => {
  const size = sql`least(abs(${value}), 9e99::float8)`
  const decade = sql`floor(log(${size}))`
  const first = sql`${size} / power(10::float8, ${decade})`
  return sql<number>`(CASE WHEN ${size} < 1e-30 THEN 0 ELSE sign(${value}) * (${sql.lit(stepOfOne)} + ${decade} * ${sql.lit(stepsPerDecade)} +
    CASE WHEN ${first} < 2 THEN round((${first} - 1) * 50)
      WHEN ${first} < 5 THEN 50 + round((${first} - 2) * 20)
      ELSE 110 + round((${first} - 5) * 10) END) END)::smallint`
}

export const valueOfStep = (step: number): number => {
  if (step === 0) return 0
  const above = Math.abs(step) - stepOfOne
  const decade = Math.floor(above / stepsPerDecade)
  const at = above - decade * stepsPerDecade
  const first = at < 50 ? 1 + at / 50 : at < 110 ? 2 + (at - 50) / 20 : 5 + (at - 110) / 10
  return Math.sign(step) * Number((first * 10 ** decade).toPrecision(12))
}
