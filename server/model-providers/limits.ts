import type { Config } from '../platform/config.ts'
import type { StoredLimits } from './queries.ts'
import type { ProviderLimits } from './requests/limits.ts'

/** Returns the limits of the operator's endpoint, which apply to each process separately. */
export const instanceLimits = ({ limits }: Config['judge']): ProviderLimits => ({
  concurrency: limits.concurrency,
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  contextTokens: limits.contextTokens,
  timeoutMs: limits.timeoutMs,
})

/** Returns the limits of a provider. Limits that it doesn't set default to the limits of the operator's endpoint. */
export const limitsOf = (stored: StoredLimits, config: Config['judge']): ProviderLimits => {
  const own = instanceLimits(config)
  return {
    concurrency: stored.concurrency ?? own.concurrency,
    requestsPerMinute: stored.requestsPerMinute,
    tokensPerMinute: stored.tokensPerMinute,
    contextTokens: stored.contextTokens ?? own.contextTokens,
    timeoutMs: stored.timeoutSeconds === undefined ? own.timeoutMs : stored.timeoutSeconds * 1_000,
  }
}
