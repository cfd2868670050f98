import type { CheckTranscriptionModel } from '../organizations/deps.ts'
import type { Deps } from '../platform/deps.ts'

export type AgentDeps = Deps & { checkTranscriptionModel: CheckTranscriptionModel }
