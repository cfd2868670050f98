import { expect, it } from 'vitest'
import { compileStrict } from './json-schema.ts'

const validate = compileStrict({
  type: 'object',
  properties: { names: { type: 'array', items: { type: 'string' } } },
  additionalProperties: false,
})

const faultsOf = (value: unknown): number => (validate(value) ? 0 : (validate.errors?.length ?? -1))

it('finds every fault, and of what has too many parts to look on the first', () => {
  expect(faultsOf({ names: ['a', 'b'] })).toBe(0)
  expect(faultsOf({ names: [1, 'b', 2], extra: 3 })).toBe(3)
  expect(faultsOf({ names: Array(1_000_000).fill(1) })).toBe(1)
  expect(faultsOf(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`n${at}`, at])))).toBe(1)
  expect(faultsOf({ names: Array(1_000_000).fill('a') })).toBe(0)
  expect(faultsOf('text')).toBe(1)
})
