import type { Price, SealedProvider } from './queries.ts'
import type { ModelTokens } from './requests/dialect.ts'

/** The bundled price table, and the publication date of this version. */
export const priceTable = { source: '@pydantic/genai-prices 0.1.8', date: '2026-09-23' }

type Table = typeof import('@pydantic/genai-prices')

let loading: Promise<Table> | undefined

/** Loads the table when a provider first needs it, because it takes 20 MB of memory. */
const loadTable = (): Promise<Table> => {
  loading ??= import('@pydantic/genai-prices')
  return loading
}

/** The name of each kind of provider in the table. Prices of local models are unknown. */
const idInTable: Partial<Record<SealedProvider['kind'], string>> = {
  anthropic: 'anthropic',
  google: 'google',
  'azure-openai': 'azure',
  bedrock: 'aws',
}

type PricedProvider = Pick<SealedProvider, 'kind' | 'settings' | 'prices'>

/** Returns the options of the table's functions. Compatible endpoints are recognized by their address. */
const placeInTable = ({ kind, settings: { baseUrl } }: PricedProvider) => {
  const providerId = idInTable[kind]
  if (providerId !== undefined) return { providerId }
  if (kind !== 'openai-compatible') return undefined
  return typeof baseUrl === 'string' ? { providerApiUrl: baseUrl } : { providerId: 'openai' }
}

/** Returns the cost in US dollars, or null if the tokens or the price are unknown. */
export const costOf = (price: Price | undefined, tokens: ModelTokens | null): number | null => {
  if (!price || !tokens) return null
  const { input, output, cachedInput = input, cacheWrite = input } = price
  const { audioInput: sound = 0 } = tokens
  // Cached sound is cheaper, but providers don't report how much of the sound was cached.
  const full = Math.max(0, tokens.input - tokens.cachedInput - tokens.cacheWrite - sound)
  const { audioInput = input } = price
  const paid =
    full * input +
    sound * audioInput +
    tokens.cachedInput * cachedInput +
    tokens.cacheWrite * cacheWrite +
    tokens.output * output
  return paid / 1_000_000
}

export type ModelPrice = Price & { source: 'provider' | 'table' }

/** OpenAI, Anthropic, and Azure answer batches at half the price. */
const usualBatchDiscount = 0.5

type Priced = {
  /** The price for a small request. */
  price: ModelPrice | undefined
  /** The fraction of the price that a batch saves. */
  batchDiscount: number
  costOf: (tokens: ModelTokens | null) => number | null
  /** The price in US dollars for transcribing a minute of audio. */
  audioMinute?: number | undefined
}

/**
 * Models that are priced by token use about this many tokens for a minute of audio, and this many for its transcript.
 */
const [audioTokensPerMinute, textTokensPerMinute] = [600, 240]

const ofOwn = (price: Price): Priced => ({
  price: { ...price, source: 'provider' },
  batchDiscount: price.batchDiscount ?? usualBatchDiscount,
  costOf: (tokens) => costOf(price, tokens),
  audioMinute: price.audioMinute,
})

const unknown: Priced = { price: undefined, batchDiscount: usualBatchDiscount, costOf: () => null }

/** Returns the base price. Some prices depend on the size of the request. */
const base = (price: number | { base: number } | undefined): number | undefined =>
  typeof price === 'object' ? price.base : price

const usageOf = (tokens: ModelTokens) => ({
  input_tokens: tokens.input,
  output_tokens: tokens.output,
  cache_read_tokens: tokens.cachedInput,
  cache_write_tokens: tokens.cacheWrite,
  ...(tokens.audioInput !== undefined && { input_audio_tokens: tokens.audioInput }),
})

type TablePrice = NonNullable<ReturnType<Table['calcPrice']>>['model_price']

/** Returns the price for a minute of audio: a price by the hour, or the approximate cost of the tokens. */
const minutePriceOf = ({ input_audio_hours, input_audio_mtok, output_mtok }: TablePrice): number | undefined => {
  const [hour, audio, output] = [base(input_audio_hours), base(input_audio_mtok), base(output_mtok)]
  if (hour !== undefined) return hour / 60
  if (audio === undefined) return undefined
  return (audio * audioTokensPerMinute + (output ?? 0) * textTokensPerMinute) / 1_000_000
}

const ofTable = (table: Table, place: NonNullable<ReturnType<typeof placeInTable>>, model: string): Priced => {
  const calculate = (tokens: ModelTokens) => table.calcPrice(usageOf(tokens), model, place)
  const listed = calculate({ input: 0, output: 0, cachedInput: 0, cacheWrite: 0 })
  if (!listed) return unknown
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = listed.model_price
  const [input, output] = [base(input_mtok), base(output_mtok)]
  const audioMinute = minutePriceOf(listed.model_price)
  if (input === undefined || output === undefined) return { ...unknown, audioMinute }
  const [cachedInput, cacheWrite] = [base(cache_read_mtok), base(cache_write_mtok)]
  return {
    price: {
      input,
      output,
      ...(cachedInput !== undefined && { cachedInput }),
      ...(cacheWrite !== undefined && { cacheWrite }),
      source: 'table',
    },
    batchDiscount: usualBatchDiscount,
    costOf: (tokens) => (tokens === null ? null : (calculate(tokens)?.total_price ?? null)),
    audioMinute,
  }
}

const findOwn = ({ prices }: PricedProvider, model: string): Priced | undefined => {
  const own = Object.hasOwn(prices, model) ? prices[model] : undefined
  return own && ofOwn(own)
}

/**
 * Returns a function that finds the prices of a provider's models: the provider's own prices, or those in the bundled
 * table.
 */
export const openPrices = async (provider: PricedProvider): Promise<(model: string) => Priced> => {
  const place = placeInTable(provider)
  const table = place && (await loadTable())
  return (model) => findOwn(provider, model) ?? (place && table ? ofTable(table, place, model) : unknown)
}

/** Finds the price of one model from a provider. */
export const findPrice = async (provider: PricedProvider, model: string): Promise<Priced> =>
  findOwn(provider, model) ?? (await openPrices(provider))(model)
