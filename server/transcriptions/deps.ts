import type { Models } from '../model-providers/models.ts'
import type { Deps } from '../platform/deps.ts'

export type TranscriptionDeps = Deps & { models: Models }
