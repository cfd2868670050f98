import { expect, it, vi } from 'vitest'

vi.stubGlobal('location', { origin: 'https://earshot.example.com' })
const { isSmall } = await import('./small-backfill.ts')

const estimate = (changed: object) => ({
  conversations: 50,
  answered: 0,
  tokens: null,
  cost: null,
  basis: null,
  budgetLeft: null,
  ...changed,
})

it.each([
  ['rule', { conversations: 0 }, false],
  ['rule', { conversations: 10_000 }, true],
  ['rule', { conversations: 10_001 }, false],
  // The cost is unknown.
  ['judge', { cost: null }, false],
  ['judge', { cost: 0.2 }, true],
  ['judge', { cost: 0.51 }, false],
  ['judge', { cost: 0.2, budgetLeft: 0.1 }, false],
  ['judge', { cost: 0.2, conversations: 101 }, false],
  ['judge', { cost: 0.2, conversations: 500, answered: 400 }, true],
] as const)('a backfill of a %s with %j is small: %j', (kind, changed, expected) => {
  expect(isSmall(kind, estimate(changed) as Parameters<typeof isSmall>[1])).toBe(expected)
})
