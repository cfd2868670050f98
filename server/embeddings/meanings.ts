// Compares conversations by their meaning, for the filters of all resources.

import type { Deps } from '../platform/deps.ts'
import type { Meanings } from '../platform/meanings.ts'
import { compareAmong, defaultMinimumSimilarity, findSimilar } from './search.ts'

export const openMeanings = (deps: () => Deps): Meanings => ({
  findSimilar: (org, meaning, options) => findSimilar(deps(), org, meaning, options),
  compareAmong: (org, conversationIds) => compareAmong(deps(), org, conversationIds),
  defaultMinimumSimilarity,
})
