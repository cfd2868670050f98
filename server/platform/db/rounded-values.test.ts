import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../test/malformed.ts'
import { testServer } from '../../../test/server.ts'
import { stepOf, stepOfValue, valueOfStep } from './rounded-values.ts'

const { deps } = await testServer()

const roundAll = async (values: number[]): Promise<number[]> => {
  const { rows } = await sql<{ step: number }>`
    SELECT ${stepOf(sql`v.value`)} AS step
    FROM unnest(${values}::float8[]) WITH ORDINALITY v(value, at) ORDER BY v.at`.execute(deps.db)
  return rows.map(({ step }) => valueOfStep(step))
}

it('whole numbers up to 100 stay exact, and 0', async () => {
  const whole = Array.from({ length: 101 }, (_, at) => at)
  expect(await roundAll(whole)).toEqual(whole)
  expect(await roundAll(whole.map((value) => -value || 0))).toEqual(whole.map((value) => -value || 0))
})

it('values change by at most 1.25% and keep their order', async () => {
  const values = Array.from({ length: 4_000 }, (_, at) => 1e-6 * 1.01 ** at)
  const rounded = await roundAll(values)
  for (const [at, value] of values.entries()) {
    const near = rounded[at] ?? Number.NaN
    expect(Math.abs(near - value) / value).toBeLessThanOrEqual(0.0125 + 1e-9)
    expect(near).toBeGreaterThanOrEqual(rounded[at - 1] ?? 0)
  }
  expect(await roundAll([1e-40, 1e80, -1e80, 1e300, 0.999999999, 9.999999, 417])).toEqual([
    0, 1e80, -1e80, 9e99, 1, 10, 415,
  ])
})

it('JavaScript rounds as SQL does, except next to the middle between two steps', async () => {
  const random = seededRandom(7)
  const values = Array.from(
    { length: 5_000 },
    () => (random.below(2) - 0.5) * 10 ** (random.below(40) - 20) * random.below(10_007),
  )
  const special = [
    0, 101, 103, 127, 1_730, -1_730, 1_790, 2_025, 2_075, 505, 0.995, 1, -1, 1.5, 417, 1e-31, 1e300, -1e300, 10, 100,
    0.1, 0.7, 0.999999999,
  ]
  const inJavaScript = (value: number) => valueOfStep(stepOfValue(value))
  expect(special.map(inJavaScript)).toEqual(await roundAll(special))
  const rounded = await roundAll(values)
  const differing = values.filter((value, at) => inJavaScript(value) !== rounded[at])
  expect(differing.length).toBeLessThan(values.length / 50)
  for (const value of values) {
    expect(Math.abs(inJavaScript(value) - value)).toBeLessThanOrEqual((0.0125 + 1e-9) * Math.abs(value))
  }
})
