import type { Config } from '../platform/config.ts'
import { ApiError } from '../platform/errors.ts'

/** Returns the settings that judges still need. Local models may need no key, and Anthropic has only one URL. */
const missingSwitches = ({ provider, baseUrl, apiKey, model }: Config['judge'], ownModel: string | undefined) => [
  ...(provider === 'openai-compatible' && baseUrl === undefined ? ['EARSHOT_JUDGE_BASE_URL'] : []),
  ...(provider === 'anthropic' && apiKey === undefined ? ['EARSHOT_JUDGE_API_KEY'] : []),
  ...(ownModel === undefined && model === undefined ? ['EARSHOT_JUDGE_MODEL'] : []),
]

/** Throws if no model is configured for judges, and tells the operator what to set. */
export const requireJudgeProvider = (judge: Config['judge'], ownModel: string | undefined): void => {
  const missing = missingSwitches(judge, ownModel)
  if (missing.length === 0) return
  throw new ApiError('conflict', `No model is configured for judges. Set ${missing.join(' and ')} and restart.`)
}
