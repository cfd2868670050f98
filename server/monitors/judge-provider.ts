import type { Config } from '../platform/config.ts'
import { ApiError } from '../platform/errors.ts'

/** What is missing before a judge can be asked. Models of one's own may need no key; Anthropic has one address. */
const missingSwitches = ({ provider, baseUrl, apiKey, model }: Config['judge'], ownModel: string | undefined) => [
  ...(provider === 'openai-compatible' && baseUrl === undefined ? ['EARSHOT_JUDGE_BASE_URL'] : []),
  ...(provider === 'anthropic' && apiKey === undefined ? ['EARSHOT_JUDGE_API_KEY'] : []),
  ...(ownModel === undefined && model === undefined ? ['EARSHOT_JUDGE_MODEL'] : []),
]

/** A judge that nobody can ask is refused, and the operator told what to set. */
export const requireJudgeProvider = (judge: Config['judge'], ownModel: string | undefined): void => {
  const missing = missingSwitches(judge, ownModel)
  if (missing.length === 0) return
  throw new ApiError('conflict', `No model is configured for judges. Set ${missing.join(' and ')} and restart.`)
}
