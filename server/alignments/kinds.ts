import type { JudgeOutput } from '../monitors/judges/definition.ts'
import type { ProposalKind } from './queries.ts'

/** The improvements that an alignment can propose. */
export const proposalKinds = ['threshold', 'calibration', 'examples', 'guidelines'] as const satisfies ProposalKind[]

/** Whether the model has to answer again to test a proposal. The others only decide otherwise by the same scores. */
export const needsModel = (kind: ProposalKind): boolean => kind === 'examples' || kind === 'guidelines'

/** Returns the proposals that are possible for an output. */
export const kindsFor = ({ type }: JudgeOutput): ProposalKind[] =>
  proposalKinds.filter((kind) => needsModel(kind) || type === 'score')
