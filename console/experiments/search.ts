/** The outcome whose row is open. */
export type ExperimentSearch = { outcome?: string }

export const readExperimentSearch = ({ outcome }: Record<string, unknown>): ExperimentSearch =>
  typeof outcome === 'string' ? { outcome } : {}
