import type { Config } from '../platform/config.ts'
import { instanceFault } from './instance.ts'
import { instanceLimits, limitsOf } from './limits.ts'
import { findPrice, type ModelPrice } from './prices.ts'
import type { getProvider, Price } from './queries.ts'
import type { ProviderLimits } from './requests/limits.ts'

type Provider = Awaited<ReturnType<typeof getProvider>>

const shownLimits = ({
  concurrency,
  requestsPerMinute,
  tokensPerMinute,
  contextTokens,
  timeoutMs,
}: ProviderLimits) => ({
  concurrency,
  requestsPerMinute: requestsPerMinute ?? null,
  tokensPerMinute: tokensPerMinute ?? null,
  contextTokens,
  timeoutSeconds: timeoutMs / 1_000,
})

/** Returns a price in the API's format, with its source. */
export const shownPrice = (price: ModelPrice | undefined) => {
  if (!price) return null
  const { input, output, cachedInput = null, cacheWrite = null, source } = price
  return { input, output, cachedInput, cacheWrite, source }
}

/** Returns a provider in the API's format. */
export const shownProvider = async (provider: Provider, { judge }: Pick<Config, 'judge'>) => {
  const { model } = provider.settings
  return {
    ...provider,
    limits: shownLimits(limitsOf(provider.limits, judge)),
    modelPrice: typeof model === 'string' ? shownPrice((await findPrice(provider, model)).price) : null,
  }
}

const operatorPrices = ({ prices }: Config['judge']): Record<string, Price> => Object.fromEntries(prices)

/** Returns the public properties of the operator's endpoint. Its URL can be internal. */
export const shownInstance = ({ judge }: Pick<Config, 'judge'>, hasDefault: boolean) => {
  const isConfigured = instanceFault(judge, undefined) === undefined
  return {
    kind: judge.provider,
    model: judge.model ?? null,
    isConfigured,
    isDefault: isConfigured && !hasDefault,
    limits: shownLimits(instanceLimits(judge)),
    prices: operatorPrices(judge),
  }
}
