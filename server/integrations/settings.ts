import Type, { type Static } from 'typebox'
import type { Issue } from '../platform/errors.ts'
import { Choice, Closed, Id } from '../platform/http/schemas.ts'
import { toIssues } from '../platform/http/validation.ts'
import { strict } from '../platform/json-schema.ts'
import { isPublicHostByForm } from '../platform/outbound/public-host.ts'
import type { Provider } from '../transcripts/provider-calls/read-call.ts'

/** Defines the settings of each provider's integration as closed schemas. */

const common = {
  agentId: Type.Optional({
    ...Id,
    description: 'The agent for calls that do not name one. By default, an agent is created for them.',
  }),
}

const HeaderName = Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', examples: ['x-signature'] })

const VapiSecret = Closed({
  ...common,
  scheme: Type.Optional(Choice(['secret'], { description: 'Default: `secret`.' })),
  header: Type.Optional({ ...HeaderName, description: 'Default: `x-vapi-secret`.' }),
})

const VapiBearer = Closed({
  ...common,
  scheme: Choice(['bearer']),
  header: Type.Optional({ ...HeaderName, description: 'Default: `authorization`.' }),
  prefix: Type.Optional(Type.Boolean({ description: 'Whether the secret is prefixed with `Bearer `. Default: true.' })),
})

const VapiHmac = Closed({
  ...common,
  scheme: Choice(['hmac']),
  algorithm: Type.Optional(Choice(['sha256', 'sha512', 'sha1'])),
  signatureHeader: Type.Optional(HeaderName),
  timestampHeader: Type.Optional(HeaderName),
  messageIdHeader: Type.Optional(HeaderName),
  signaturePrefix: Type.Optional(Type.String({ maxLength: 100 })),
  signatureEncoding: Type.Optional(Choice(['hex', 'base64'])),
  includeTimestamp: Type.Optional(Type.Boolean()),
  payloadFormat: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '\\{body\\}',
      description: 'A template with `{body}` (required), `{timestamp}`, `{method}`, `{url}`, and `{svix-id}`.',
    }),
  ),
  secretIsBase64: Type.Optional(Type.Boolean()),
})

const Plain = Closed(common)

const Livekit = Closed({
  ...common,
  apiKey: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'The API key that must have signed the token.' }),
  ),
})

const apiAddress = '^https?://[^\\s/?#@]+(/[^\\s?#@]*)?$'

const Twilio = Closed({
  ...common,
  accountSid: Type.String({ pattern: '^AC[0-9a-fA-F]{32}$', examples: ['AC00000000000000000000000000000001'] }),
  apiBaseUrl: Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: apiAddress,
      description: 'Default: `https://intelligence.twilio.com`. Must be `https` unless it is in a private network.',
    }),
  ),
})

/** Returns a schema that is selected by a property of the value. */
const when = (condition: object, schema: object) => ({
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  then: schema,
})

/** The first scheme also applies if the value does not specify one. */
const byScheme = [VapiSecret, VapiBearer, VapiHmac].map((schema, index) => {
  const { scheme } = schema.properties
  return when({ properties: { scheme }, ...(index > 0 && { required: ['scheme'] }) }, schema)
})

const Vapi = {
  type: 'object',
  properties: { scheme: Choice(['secret', 'bearer', 'hmac']) },
  allOf: byScheme,
}

const schemas: Record<Provider, object> = {
  vapi: Vapi,
  retell: Plain,
  elevenlabs: Plain,
  twilio: Twilio,
  livekit: Livekit,
}

export type VapiSettings = Static<typeof VapiSecret> | Static<typeof VapiBearer> | Static<typeof VapiHmac>
export type LivekitSettings = Static<typeof Livekit>
export type TwilioSettings = Static<typeof Twilio>
export type IntegrationSettings = { agentId?: string } & Record<string, unknown>

/** Adds a rule to a body's schema: the settings must be those of its provider. */
export const settingsByProvider = Object.entries(schemas).map(([provider, settings]) =>
  when(
    { properties: { provider: { const: provider } }, required: ['provider'] },
    // Twilio's settings contain the account, and nothing can be fetched without it.
    { properties: { settings }, ...(provider === 'twilio' && { required: ['settings'] }) },
  ),
)

const validators = new Map(
  Object.entries(schemas).map(([provider, settings]) => [provider, strict.compile({ properties: { settings } })]),
)

/** Returns the violations of the provider's schema in the settings. */
export const settingsIssues = (provider: string, settings: IntegrationSettings): Issue[] => {
  const validate = validators.get(provider)
  return !validate || validate({ settings }) ? [] : toIssues(validate.errors ?? [])
}

/** Returns an error if a token would be sent unencrypted to an address outside the allowed private networks. */
export const addressIssues = ({ apiBaseUrl }: IntegrationSettings): Issue[] => {
  const url = typeof apiBaseUrl === 'string' ? URL.parse(apiBaseUrl) : undefined
  if (url === undefined) return []
  const isSound = url !== null && (url.protocol === 'https:' || !isPublicHostByForm(url.hostname))
  return isSound ? [] : [{ path: 'settings.apiBaseUrl', message: 'must be an https URL' }]
}
