import type { EvaluationDeps } from '../evaluations/deps.ts'
import type { Models } from '../model-providers/models.ts'
import type { FindBlind } from '../monitors/deps.ts'

export type AlignmentDeps = EvaluationDeps & { models: Pick<Models, 'find'>; findBlind: FindBlind }
