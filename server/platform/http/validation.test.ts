import Type from 'typebox'
import { expect, it } from 'vitest'
import { compileStrict } from '../json-schema.ts'
import type { JsonSchema } from './examples.ts'
import { toIssues } from './validation.ts'

const tags = Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true })
const share = Type.Number({ exclusiveMinimum: 0, maximum: 1 })
const page = Type.Integer({ minimum: 1, exclusiveMaximum: 10 })
const step = Type.Number({ multipleOf: 5 })
const kind = Type.Union([Type.Literal('a'), Type.Literal('b')])
const metadata = Type.Record(Type.String(), Type.String(), { propertyNames: { maxLength: 3 }, maxProperties: 1 })

it.each([
  ['must not be empty', Type.String({ minLength: 1 }), ''],
  ['must have at least 8 characters', Type.String({ minLength: 8 }), 'short'],
  ['must have at most 1 character', Type.String({ maxLength: 1 }), 'long'],
  ['must not be blank', Type.String({ pattern: '\\S' }), ' '],
  ['must have the format that the API reference describes', Type.String({ pattern: '^a' }), 'b'],
  ['must be a UUID', Type.String({ format: 'uuid' }), 'x'],
  ['must be an email address', Type.String({ format: 'email' }), 'x'],
  ['must be a URL', Type.String({ format: 'uri' }), 'x'],
  ['must be true or false', Type.Boolean(), 'yes'],
  ['must be a whole number', Type.Union([Type.Integer(), Type.Null()]), 'x'],
  ['must have at least 1 item', tags, []],
  ['must have at most 2 items', tags, ['a', 'b', 'c']],
  ['must not repeat items, but items 0 and 1 are equal', tags, ['a', 'a']],
  ['must be greater than 0', share, 0],
  ['must be at most 1', share, 2],
  ['must be at least 1', page, 0],
  ['must be less than 10', page, 10],
  ['must be a multiple of 5', step, 7],
  ['must be "a"', kind, 'c'],
  ['must have at least 1 property', Type.Object({}, { minProperties: 1 }), {}],
  ['must have at most 1 property', metadata, { a: '1', b: '2' }],
  ['keys must have at most 3 characters', metadata, { long: '1' }],
])('answers “%s”', (message, schema, value) => {
  const validate = compileStrict(schema as JsonSchema)
  expect(validate(value)).toBe(false)
  expect(toIssues(validate.errors ?? [])[0]).toEqual({ path: '', message })
})
