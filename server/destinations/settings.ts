import Type, { type Static } from 'typebox'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { Choice, Closed, Email, Id } from '../platform/http/schemas.ts'
import { toIssues } from '../platform/http/validation.ts'
import { strict } from '../platform/json-schema.ts'
import { isPublicHostByForm } from '../platform/outbound/public-host.ts'
import type { Secrets } from '../platform/secrets/secrets.ts'
import { opsgenieUrls } from './kinds/opsgenie.ts'
import type { DestinationSettings, Kind } from './queries.ts'

/** Validates the settings of each kind of destination, seals secrets, and masks them for display. */

export const kinds: readonly Kind[] = ['email', 'slack', 'teams', 'pagerduty', 'opsgenie', 'webhook']

const Url = Type.String({ minLength: 1, maxLength: 2_048 })

const Key = Type.String({ minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' })

const schemas = {
  email: Closed({
    addresses: Type.Optional(Type.Array(Email, { maxItems: 20, uniqueItems: true })),
    memberIds: Type.Optional(Type.Array(Id, { maxItems: 50, uniqueItems: true })),
  }),
  slack: Closed({ url: Type.Optional(Url) }),
  teams: Closed({ url: Type.Optional(Url) }),
  pagerduty: Closed({ routingKey: Type.Optional(Key) }),
  opsgenie: Closed({
    apiKey: Type.Optional(Key),
    // Object.keys loses the literal types.
    region: Type.Optional(Choice(Object.keys(opsgenieUrls) as (keyof typeof opsgenieUrls)[])),
  }),
  webhook: Closed({ endpointId: Id }),
} satisfies Record<Kind, object>

/** The setting, for each kind, that is sealed and never shown. */
const secretNames = { slack: 'url', teams: 'url', pagerduty: 'routingKey', opsgenie: 'apiKey' } as const

const secretNameOf = (kind: Kind): string | undefined =>
  kind in secretNames ? secretNames[kind as keyof typeof secretNames] : undefined

export type EmailSettings = Required<Static<(typeof schemas)['email']>>
export type WebhookSettings = Static<(typeof schemas)['webhook']>

/** `settings` does not include the secret. `secret` is in plaintext, or undefined for kinds without one. */
export type CheckedSettings = { settings: DestinationSettings; secret: string | undefined }

const validators = new Map(
  Object.entries(schemas).map(([kind, settings]) => [kind, strict.compile({ properties: { settings } })]),
)

const hiddenPart = '…'
const shownCharacters = 4

/** Masks a secret: shows enough to recognize it, but too little to use it. */
const maskSecret = (kind: Kind, secret: string): string => {
  const end = secret.length > 4 * shownCharacters ? secret.slice(-shownCharacters) : ''
  const isUrl = secretNameOf(kind) === 'url'
  return `${isUrl ? `${new URL(secret).origin}/` : ''}${hiddenPart}${end}`
}

const urlFault = (text: string, allowedPrivateAddresses: string[]): string | undefined => {
  if (text.includes(hiddenPart)) return 'is masked; enter the whole URL'
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    return 'must be an https URL without credentials'
  }
  if (allowedPrivateAddresses.length === 0 && !isPublicHostByForm(url.hostname)) return 'must have a public host'
  return undefined
}

const fill = (
  kind: Kind,
  { addresses = [], memberIds = [], region = 'us', ...others }: DestinationSettings,
): DestinationSettings => {
  if (kind === 'email') return { addresses, memberIds }
  if (kind === 'opsgenie') return { ...others, region }
  return others
}

type Stored = { settings: DestinationSettings; secret: string }

/**
 * Validates the settings of a destination. A missing or masked secret keeps its stored value, so that clients can send
 * back what they have read.
 */
export const checkSettings = (
  kind: Kind,
  given: DestinationSettings,
  { allowedPrivateAddresses, stored }: { allowedPrivateAddresses: string[]; stored?: Stored | undefined },
): CheckedSettings => {
  const fail = (issue: Issue) => invalidAll([issue])
  const name = secretNameOf(kind)
  const { [name ?? '']: value, ...others } = given
  const isKept = stored !== undefined && name !== undefined && (value === undefined || value === stored.settings[name])
  const changed = isKept ? others : given
  const validate = validators.get(kind)
  if (validate && !validate({ settings: changed })) throw invalidAll(toIssues(validate.errors ?? []))
  const settings = fill(kind, changed)
  if (kind === 'email' && [settings.addresses, settings.memberIds].flat().length === 0) {
    throw fail({ path: 'settings', message: 'must name at least one address or member' })
  }
  if (name === undefined) return { settings, secret: undefined }
  const secret = isKept ? stored.secret : value
  if (typeof secret !== 'string') throw fail({ path: `settings.${name}`, message: 'is required' })
  const fault = name === 'url' ? urlFault(secret, allowedPrivateAddresses) : undefined
  if (fault) throw fail({ path: `settings.${name}`, message: fault })
  return { settings: { ...settings, [name]: maskSecret(kind, secret) }, secret }
}

/** Returns the context in which a destination's secret is sealed. */
export const secretContext = (org: string, id: string) => `${org}/destination/${id}/secret`

export const sealDestinationSecret = (secrets: Secrets, org: string, id: string, secret: string | undefined) =>
  secret === undefined ? null : secrets.seal(secret, secretContext(org, id))

type Sealed = { id: string; kind: Kind; settings: DestinationSettings; secret: string | null }

/** Returns the stored settings that `checkSettings` compares with when settings are replaced. */
export const openStored = (secrets: Secrets, org: string, { id, settings, secret }: Sealed): Stored | undefined =>
  secret === null ? undefined : { settings, secret: secrets.open(secret, secretContext(org, id)) }

/** Returns the settings with the plaintext secret, which is needed for sending. */
export const openSettings = (
  secrets: Secrets,
  org: string,
  { id, kind, settings, secret }: Sealed,
): DestinationSettings => {
  const name = secretNameOf(kind)
  if (name === undefined || secret === null) return settings
  return { ...settings, [name]: secrets.open(secret, secretContext(org, id)) }
}
