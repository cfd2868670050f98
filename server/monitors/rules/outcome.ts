/** The numbers for the results of a rule on a conversation. */

export const outcomes = { notAsked: -1, notAffected: 0, affected: 1, unscored: 2, failed: 3 } as const

export type Evidence = { turn: number; quote: string }

export type Note = { reason: string } | { evidence: Evidence[] }
