// Validates the settings of each kind of provider, seals keys, and masks them for display.
import Type from 'typebox'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { Choice, Closed } from '../platform/http/schemas.ts'
import { toIssues } from '../platform/http/validation.ts'
import { strict } from '../platform/json-schema.ts'
import { isPublicHostByForm } from '../platform/outbound/public-host.ts'
import type { Secrets } from '../platform/secrets/secrets.ts'

export const providerKinds = ['openai-compatible', 'anthropic', 'google', 'azure-openai', 'bedrock', 'ollama'] as const

export type ProviderKind = (typeof providerKinds)[number]

/** The settings in the format of the API, with masked keys. Their properties depend on the kind. */
export type ShownSettings = Record<string, unknown>

/** The settings for any kind, with plaintext keys. */
export type ProviderSettings = {
  baseUrl: string
  /** The model for monitors that don't specify one. */
  model?: string
  /** How the model learns the format of its answer: from a schema, which is the default, or from the prompt. */
  structuredOutput?: 'schema' | 'prompt'
  promptCaching?: boolean
  apiKey?: string
  apiVersion?: string
  region?: string
  accessKeyId?: string
  secretAccessKey?: string
}

const secretNames = ['apiKey', 'secretAccessKey'] as const

/** The keys in plaintext. */
export type ProviderKeys = Partial<Record<(typeof secretNames)[number], string>>

const BaseUrl = Type.String({ minLength: 1, maxLength: 2_048 })
const Key = Type.String({ minLength: 1, maxLength: 500, pattern: '^[\\x21-\\x7e]+$' })
const Model = Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' })
const common = {
  model: Type.Optional(Model),
  apiKey: Type.Optional(Key),
  structuredOutput: Type.Optional(Choice(['schema', 'prompt'])),
}
const promptCaching = Type.Optional(Type.Boolean())

const schemas: Record<ProviderKind, object> = {
  'openai-compatible': Closed({ ...common, baseUrl: Type.Optional(BaseUrl) }),
  anthropic: Closed({ ...common, baseUrl: Type.Optional(BaseUrl), promptCaching }),
  google: Closed({ ...common, baseUrl: Type.Optional(BaseUrl) }),
  'azure-openai': Closed({
    ...common,
    baseUrl: BaseUrl,
    apiVersion: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(-preview)?$' })),
  }),
  bedrock: Closed({
    ...common,
    region: Type.String({ pattern: '^[a-z]{2,4}(-[a-z]+){1,3}-\\d{1,2}$' }),
    baseUrl: Type.Optional(BaseUrl),
    accessKeyId: Type.Optional(Key),
    secretAccessKey: Type.Optional(Key),
    promptCaching,
  }),
  ollama: Closed({ ...common, baseUrl: BaseUrl }),
}

const validators = new Map(
  Object.entries(schemas).map(([kind, settings]) => [kind, strict.compile({ properties: { settings } })]),
)

const bedrockUrl = (region: string): string =>
  `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

const defaultUrls: Partial<Record<ProviderKind, string>> = {
  'openai-compatible': 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com',
}

/** Returns the base URL if the settings contain none. */
const defaultUrlOf = (kind: ProviderKind, region: unknown): string =>
  kind === 'bedrock' ? bedrockUrl(String(region)) : (defaultUrls[kind] ?? '')

const hiddenPart = '…'
const shownCharacters = 4

/** Masks a key: shows enough to recognize it, but too little to use it. */
const maskKey = (key: string): string =>
  `${hiddenPart}${key.length > 4 * shownCharacters ? key.slice(-shownCharacters) : ''}`

const urlFault = (text: string, allowedPrivateAddresses: string[]): string | undefined => {
  const url = URL.parse(text)
  const mayBePlain = allowedPrivateAddresses.length > 0
  if (url?.username !== '' || url.password !== '' || !['https:', 'http:'].includes(url.protocol)) {
    return 'must be an https URL without credentials'
  }
  if (mayBePlain) return undefined
  const how = 'unless the operator allows private addresses (EARSHOT_ALLOWED_PRIVATE_ADDRESSES)'
  if (!isPublicHostByForm(url.hostname)) return `must have a public host ${how}`
  return url.protocol === 'https:' ? undefined : `must start with https:// ${how}`
}

/** Returns the required keys that are missing. Local models and proxies may need none. */
const missingKey = (kind: ProviderKind, { accessKeyId }: ShownSettings, keys: ProviderKeys): Issue | undefined => {
  if (keys.apiKey !== undefined || kind === 'openai-compatible' || kind === 'ollama') return undefined
  if (kind !== 'bedrock') return { path: 'settings.apiKey', message: 'is required' }
  if (accessKeyId === undefined)
    return { path: 'settings', message: 'must contain apiKey, or accessKeyId and secretAccessKey' }
  if (keys.secretAccessKey === undefined) return { path: 'settings.secretAccessKey', message: 'is required' }
  return undefined
}

type Stored = { settings: ShownSettings; keys: ProviderKeys }

/** Returns the URL that receives the keys. Different paths on a host can have different owners. */
export const addressOf = (kind: ProviderKind, { baseUrl, region }: ShownSettings): string | undefined => {
  const url = URL.parse(typeof baseUrl === 'string' ? baseUrl : defaultUrlOf(kind, region))
  return url ? `${url.origin}${url.pathname.replace(/\/+$/, '')}${url.search}` : undefined
}

export type CheckedSettings = { settings: ShownSettings; keys: ProviderKeys }

/** Separates out the keys that keep their stored values because they are missing or masked. */
const splitKeys = (given: ShownSettings, stored: Stored | undefined) => {
  const kept: ProviderKeys = {}
  const changed: ShownSettings = { ...given }
  for (const name of secretNames) {
    const before = stored?.keys[name]
    const value = given[name]
    if (before === undefined || (value !== undefined && value !== stored?.settings[name])) continue
    kept[name] = before
    delete changed[name]
  }
  return { kept, changed }
}

/**
 * Validates the settings of a provider. Null removes a setting. A missing or masked key keeps its stored value, so that
 * clients can send back what they have read. The exception is a change of URL: a stored key is only sent to the URL
 * that it was stored for.
 */
export const checkSettings = (
  kind: ProviderKind,
  given: ShownSettings,
  { allowedPrivateAddresses, stored }: { allowedPrivateAddresses: string[]; stored?: Stored | undefined },
): CheckedSettings => {
  const { kept, changed } = splitKeys(given, stored)
  const settings = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null))
  const validate = validators.get(kind)
  if (validate && !validate({ settings })) throw invalidAll(toIssues(validate.errors ?? []))
  const { baseUrl } = settings
  const fault = typeof baseUrl === 'string' ? urlFault(baseUrl, allowedPrivateAddresses) : undefined
  if (fault) throw invalidAll([{ path: 'settings.baseUrl', message: fault }])
  const [keptName] = Object.keys(kept)
  if (keptName !== undefined && stored && addressOf(kind, settings) !== addressOf(kind, stored.settings)) {
    const message = 'must be entered again, because the address changed'
    throw invalidAll([{ path: `settings.${keptName}`, message }])
  }
  const keys: ProviderKeys = { ...kept }
  for (const name of secretNames) {
    const value = settings[name]
    if (typeof value === 'string') keys[name] = value
  }
  const missing = missingKey(kind, settings, keys)
  if (missing) throw invalidAll([missing])
  const masked = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, maskKey(key)]))
  return { settings: { ...settings, ...masked }, keys }
}

/** Returns the context in which a provider's keys are sealed. */
export const secretContext = (org: string, id: string) => `${org}/model-provider/${id}/secret`

export const sealKeys = (secrets: Secrets, org: string, id: string, keys: ProviderKeys): string | null =>
  Object.keys(keys).length === 0 ? null : secrets.seal(JSON.stringify(keys), secretContext(org, id))

type Sealed = { id: string; kind: ProviderKind; settings: ShownSettings; secret: string | null }

export const openKeys = (secrets: Secrets, org: string, { id, secret }: Pick<Sealed, 'id' | 'secret'>): ProviderKeys =>
  // Only `sealKeys` writes this value.
  secret === null ? {} : (JSON.parse(secrets.open(secret, secretContext(org, id))) as ProviderKeys)

/** Returns the settings with the plaintext keys that requests need. */
export const openSettings = (secrets: Secrets, org: string, provider: Sealed): ProviderSettings => {
  const { kind, settings } = provider
  const baseUrl = defaultUrlOf(kind, settings.region)
  // The settings were validated for the kind when they were stored.
  return { baseUrl, ...(settings as Partial<ProviderSettings>), ...openKeys(secrets, org, provider) }
}
