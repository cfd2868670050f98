import { expect, it } from 'vitest'
import { compileStrict, instantKeyword } from './json-schema.ts'

const validate = compileStrict({
  type: 'object',
  properties: { names: { type: 'array', items: { type: 'string' } } },
  additionalProperties: false,
})

const faultsOf = (value: unknown): number => (validate(value) ? 0 : (validate.errors?.length ?? -1))

it('finds every fault, but only the first in a very large value', () => {
  expect(faultsOf({ names: ['a', 'b'] })).toBe(0)
  expect(faultsOf({ names: [1, 'b', 2], extra: 3 })).toBe(3)
  expect(faultsOf({ names: Array(1_000_000).fill(1) })).toBe(1)
  expect(faultsOf(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`n${at}`, at])))).toBe(1)
  expect(faultsOf({ names: Array(1_000_000).fill('a') })).toBe(0)
  expect(faultsOf('text')).toBe(1)
})

const at = compileStrict({
  type: 'object',
  properties: { at: { type: 'string', format: 'date-time', [instantKeyword]: true } },
})

it.each([
  ['2026-11-01T00:00Z', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01T05:30+0530', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01T05:30:00+05:30', '2026-11-01T05:30:00+05:30'],
  ['2026-11-01T24:00Z', '2026-11-02T00:00:00.000Z'],
  ['2026-12-31T24:00:00.000+01', '2026-12-31T23:00:00.000Z'],
  ['2026-11-01T10:00:00.123456Z', '2026-11-01T10:00:00.123456Z'],
  ['0001-01-01T00:00-01:00', '0001-01-01T01:00:00.000Z'],
])('accepts the time %s as %s', (given, read) => {
  const value = { at: given }
  expect([at(value), value.at]).toEqual([true, read])
})

it.each([
  '2026-11-01',
  '2026-11-01T00:00',
  '2026-02-30T00:00Z',
  '2026-11-01T24:01Z',
  '2026-11-01T24:00:01Z',
  '2026-11-01T00:60Z',
  '2026-11-01T00:00:60Z',
  '2026-11-01T00Z',
  '2026-11-01T00:00+05:60',
  '9999-12-31T24:00Z',
  '0000-01-01T00:00Z',
  'now',
])('rejects the time %s', (given) => expect(at({ at: given })).toBe(false))
