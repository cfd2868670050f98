import { readFilter } from '../conversations/search.ts'
import type { Filter } from '../filters/filter.ts'
import { readText } from '../lib/search.ts'

/** The agent, version, and company of one side. Without them, a side contains all conversations. */
export type SideSearch = {
  agent?: string
  version?: string
  company?: string
  /**
   * The period of side A if it differs from that of side B, in the format of `time`, or `previous_period` or
   * `previous_year`.
   */
  time?: string
}

/**
 * The sides to compare, the period of B, and a filter for both. Without sides, the page selects the last two versions
 * of `agent`, or of the agent with the most conversations.
 */
export type CompareSearch = { a?: SideSearch; b?: SideSearch; time?: string; filter?: Filter; agent?: string }

const readSide = <const Name extends 'a' | 'b'>(name: Name, value: unknown): { [name in Name]?: SideSearch } => {
  if (typeof value !== 'object' || value === null) return {}
  const side: Record<string, unknown> = { ...value }
  return {
    [name]: {
      ...readText('agent', side.agent),
      ...readText('version', side.version),
      ...readText('company', side.company),
      ...readText('time', side.time),
    },
    // TypeScript can't infer the type of a computed key.
  } as { [name in Name]?: SideSearch }
}

export const readCompareSearch = (search: Record<string, unknown>): CompareSearch => ({
  ...readSide('a', search.a),
  ...readSide('b', search.b),
  ...readText('time', search.time),
  ...readFilter(search.filter),
  ...readText('agent', search.agent),
})
