import type { FindingStatus } from './queries.ts'

/** The moves that triage allows. A returning spike reopens the last two. */
const moves: Record<FindingStatus, FindingStatus[]> = {
  open: ['acknowledged', 'resolved', 'ignored'],
  acknowledged: ['open', 'resolved', 'ignored'],
  resolved: ['open'],
  ignored: ['open'],
}

export const movesFrom = (from: FindingStatus): readonly FindingStatus[] => moves[from]
