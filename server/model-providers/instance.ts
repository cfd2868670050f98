import type { Config } from '../platform/config.ts'

/** Returns the settings that the operator's endpoint still needs. Local models may need no key. */
const missingSwitches = ({ provider, baseUrl, apiKey, model }: Config['judge'], ownModel: string | undefined) => [
  ...(provider === 'openai-compatible' && baseUrl === undefined ? ['EARSHOT_JUDGE_BASE_URL'] : []),
  ...(provider === 'anthropic' && apiKey === undefined ? ['EARSHOT_JUDGE_API_KEY'] : []),
  ...(ownModel === undefined && model === undefined ? ['EARSHOT_JUDGE_MODEL'] : []),
]

/** Explains why the operator's endpoint can't answer and what to do. Returns undefined if it can. */
export const instanceFault = (judge: Config['judge'], ownModel: string | undefined): string | undefined => {
  const missing = missingSwitches(judge, ownModel)
  if (missing.length === 0) return undefined
  return `No model is configured for judges. Add a provider under Settings → Models, or set ${missing.join(' and ')} and restart.`
}

const defaultUrls: Partial<Record<Config['judge']['provider'], string>> = { anthropic: 'https://api.anthropic.com' }

/** Returns the settings of the operator's endpoint in the format of a provider's settings. */
export const instanceSettings = ({ provider, baseUrl = defaultUrls[provider] ?? '', apiKey }: Config['judge']) => ({
  baseUrl,
  ...(apiKey !== undefined && { apiKey }),
})
