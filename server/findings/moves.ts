import type { FindingStatus } from './queries.ts'

/** Where triage may take a finding from where it is. A spike that returns takes it from the last two to open. */
const moves: Record<FindingStatus, FindingStatus[]> = {
  open: ['acknowledged', 'resolved', 'ignored'],
  acknowledged: ['open', 'resolved', 'ignored'],
  resolved: ['open'],
  ignored: ['open'],
}

export const movesFrom = (from: FindingStatus): readonly FindingStatus[] => moves[from]
