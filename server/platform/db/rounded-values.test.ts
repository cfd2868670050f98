import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'
import { stepOf, valueOfStep } from './rounded-values.ts'

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
