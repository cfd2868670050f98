import { RE2JS } from 're2js'
import { expect, it } from 'vitest'
import { instructionsOf } from './re2-internals.ts'

it('finds the ranges of a class in the program of a pattern', () => {
  const ranges = instructionsOf(RE2JS.compile('[a-cx]y')).map(({ runes }) => [...runes])
  expect(ranges).toContainEqual([0x61, 0x63, 0x78, 0x78])
})

it('finds more instructions in a longer pattern', () => {
  const count = (source: string) => instructionsOf(RE2JS.compile(source)).length
  expect(count('a{20}')).toBeGreaterThan(count('a') + 15)
})
