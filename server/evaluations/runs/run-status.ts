/** The states of a run, and the allowed transitions. A run that was stopped early can be resumed. */

export const runStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const
export type RunStatus = (typeof runStatuses)[number]

export const runMoves: Record<RunStatus, readonly RunStatus[]> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: ['queued'],
  cancelled: ['queued'],
}

export const canMove = (from: RunStatus, to: RunStatus): boolean => runMoves[from].includes(to)

/** The failure of a run of a monitor that can no longer be evaluated. */
export const monitorIsGone =
  'The monitor was deleted, monitors were disabled for the organization, or the organization was suspended.'
