/** The expanded outcome. */
export type ExperimentSearch = { outcome?: string }

export const readExperimentSearch = ({ outcome }: Record<string, unknown>): ExperimentSearch =>
  typeof outcome === 'string' ? { outcome } : {}
