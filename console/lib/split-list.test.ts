import { expect, it } from 'vitest'
import { splitList } from './split-list.ts'

it('splits at commas, trims, and drops empty items', () => {
  expect(splitList(' billing, late fee ,,refund,')).toEqual(['billing', 'late fee', 'refund'])
  expect(splitList(' , ')).toEqual([])
})
