export const exportStatuses = ['pending', 'processing', 'completed', 'failed', 'expired'] as const
export type ExportStatus = (typeof exportStatuses)[number]

/** Where an export may go from where it is. What takes it there is in `jobs.ts` and `expire.ts`. */
const moves: Record<ExportStatus, ExportStatus[]> = {
  pending: ['processing', 'failed'],
  // Taken up again by another attempt, it begins anew.
  processing: ['processing', 'completed', 'failed'],
  completed: ['expired'],
  failed: [],
  expired: [],
}

export const canMove = (from: ExportStatus, to: ExportStatus): boolean => moves[from].includes(to)
