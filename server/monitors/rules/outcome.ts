/** The numbers that represent a rule's results. */

export const outcomes = { notAsked: -1, notAffected: 0, affected: 1, unscored: 2, failed: 3 } as const

export type Evidence = { turn: number; quote: string }

export type RuleValue = string | number | boolean | string[] | null

/**
 * The properties that most results don't have: the reason for a missing result, the evidence, categories, and fields.
 */
export type Note = {
  reason?: string
  evidence?: Evidence[]
  categories?: string[]
  fields?: Record<string, RuleValue>
}
