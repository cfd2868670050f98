import type { JudgeOutput } from '../monitors/judges/definition.ts'
import type { ProposalKind } from './queries.ts'

/** The improvements that an alignment can propose. */
export const proposalKinds = ['threshold', 'calibration', 'examples', 'guidelines'] as const satisfies ProposalKind[]

/** Returns whether testing a proposal requires new answers from the model. Other proposals reuse the scores. */
export const needsModel = (kind: ProposalKind): boolean => kind === 'examples' || kind === 'guidelines'

/** Returns the proposals that are possible for an output. */
export const kindsFor = ({ type }: JudgeOutput): ProposalKind[] =>
  proposalKinds.filter((kind) => needsModel(kind) || type === 'score')
