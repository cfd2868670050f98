export const experimentStatuses = ['running', 'finished'] as const
export type ExperimentStatus = (typeof experimentStatuses)[number]

/** An experiment runs from its launch until it is finished. */
const moves: Record<ExperimentStatus, ExperimentStatus[]> = { running: ['finished'], finished: [] }

export const canMove = (from: ExperimentStatus, to: ExperimentStatus): boolean => moves[from].includes(to)
