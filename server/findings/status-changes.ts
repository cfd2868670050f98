import type { FindingStatus } from './queries.ts'

/** The transitions that triage allows. If a spike returns, it can reopen the last two states. */
const moves: Record<FindingStatus, FindingStatus[]> = {
  open: ['acknowledged', 'resolved', 'ignored'],
  acknowledged: ['open', 'resolved', 'ignored'],
  resolved: ['open'],
  ignored: ['open'],
}

export const movesFrom = (from: FindingStatus): readonly FindingStatus[] => moves[from]
