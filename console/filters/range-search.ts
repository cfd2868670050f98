import { readText } from '../lib/search.ts'

const comparisons = ['none', 'previous_period', 'previous_year'] as const

/** What a period is compared with: nothing, an earlier period, or the days from a first to a last one. */
export type Comparison = (typeof comparisons)[number] | `${string}..${string}`

/** The query parameters for a page with a period. */
export type RangeSearch = { time?: string; compare?: Comparison }

const isComparison = (value: unknown): value is Comparison =>
  comparisons.some((each) => each === value) ||
  (typeof value === 'string' && /^\d{4}-\d\d-\d\d\.\.\d{4}-\d\d-\d\d$/.test(value))

export const readRangeSearch = ({ time, compare }: Record<string, unknown>): RangeSearch => ({
  ...readText('time', time),
  ...(isComparison(compare) && { compare }),
})
