import { readText } from '../lib/search.ts'

/** The period and comparison in the address replace those of the board. */
export type BoardSearch = { time?: string; compare?: 'none' | 'previous_period' | 'previous_year' }

const comparisons = ['none', 'previous_period', 'previous_year'] as const

export const readBoardSearch = (search: Record<string, unknown>): BoardSearch => {
  const compare = comparisons.find((each) => each === search.compare)
  return {
    ...readText('time', search.time),
    ...(compare && { compare }),
  }
}
