import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exactOf, minus, nothing, numberOf, parseExact, plus, textOf, times } from './exact.ts'

const number = fc.double({ noNaN: true, noDefaultInfinity: true })
const moderate = fc.double({ noNaN: true, min: -1e100, max: 1e100 })

it('equals the number, also after storing it as text', () => {
  fc.assert(
    fc.property(number, (value) => {
      expect(numberOf(exactOf(value))).toBe(value === 0 ? 0 : value)
      expect(parseExact(textOf(exactOf(value)))).toEqual(exactOf(value))
    }),
  )
})

it('rounds a sum and a product once, like JavaScript', () => {
  fc.assert(
    fc.property(moderate, moderate, (one, other) => {
      expect(numberOf(plus(exactOf(one), exactOf(other)))).toBe(one + other + 0)
      const product = one * other
      // JavaScript rounds subnormal results twice.
      if (product !== 0 && Math.abs(product) < 1e-290) return
      expect(numberOf(times(exactOf(one), exactOf(other))) + 0).toBe(product + 0)
    }),
  )
})

it('returns to zero, whatever was added in between', () => {
  fc.assert(
    fc.property(fc.array(number), (values) => {
      const sum = values.map(exactOf).reduce(plus, nothing)
      const left = values.toReversed().map(exactOf).reduce(minus, sum)
      expect(numberOf(left)).toBe(0)
    }),
  )
})
