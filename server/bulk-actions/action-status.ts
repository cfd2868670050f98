/** The statuses of a bulk action, and the allowed transitions. */

export const actionStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const
export type ActionStatus = (typeof actionStatuses)[number]

const moves: Record<ActionStatus, readonly ActionStatus[]> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
}

export const canMove = (from: ActionStatus, to: ActionStatus): boolean => moves[from].includes(to)
export const isFinished = (status: ActionStatus): boolean => moves[status].length === 0
