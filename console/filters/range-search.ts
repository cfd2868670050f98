import { readText } from '../lib/search.ts'

const comparisons = ['none', 'previous_period', 'previous_year'] as const

/** The comparison of a period: none, an earlier period, or the first and last of several days. */
export type Comparison = (typeof comparisons)[number] | `${string}..${string}`

/** The query parameters of a page with a period. */
export type RangeSearch = { time?: string; compare?: Comparison }

const isComparison = (value: unknown): value is Comparison =>
  comparisons.some((each) => each === value) ||
  (typeof value === 'string' && /^\d{4}-\d\d-\d\d\.\.\d{4}-\d\d-\d\d$/.test(value))

export const readRangeSearch = ({ time, compare }: Record<string, unknown>): RangeSearch => ({
  ...readText('time', time),
  ...(isComparison(compare) && { compare }),
})
