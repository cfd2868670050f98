import type { Filter } from '../filters/filter.ts'
import { type RangeSearch, readRangeSearch } from '../filters/range-search.ts'

/** The period, comparison, and filter in the address replace those of the board. */
export type BoardSearch = RangeSearch & { filter?: Filter }

const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const readBoardSearch = (search: Record<string, unknown>): BoardSearch => ({
  ...readRangeSearch(search),
  // An empty filter also replaces the filter of the board. The API validates the fields.
  ...(isFilter(search.filter) && { filter: search.filter }),
})
