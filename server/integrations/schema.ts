import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { providers } from '../transcripts/provider-calls/read-call.ts'
import { deliveryStatuses } from './deliveries/status.ts'
import { type IntegrationSettings, settingsByProvider } from './settings.ts'
import { SyncState } from './sync/schema.ts'

const IntegrationName = { ...Name, examples: ['Front desk on Vapi'] }

const AnySettings = Type.Unsafe<IntegrationSettings>({
  type: 'object',
  additionalProperties: true,
  description:
    'Depends on the provider. Every provider: `agentId`. vapi: `scheme` (secret, bearer, or hmac) and its options. ' +
    'twilio: `accountSid`, `apiBaseUrl`. livekit: `apiKey`.',
  examples: [{ scheme: 'hmac', algorithm: 'sha256' }],
})

const Secret = Type.String({
  minLength: 1,
  maxLength: 1_000,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'The provider’s signing secret. Never shown again.',
  examples: ['vapi_hmac_secret'],
})

const count = Type.Integer({ minimum: 0 })

export const Integration = Closed(
  {
    id: Id,
    provider: Choice(providers),
    name: IntegrationName,
    settings: AnySettings,
    webhookPath: Type.String({
      description: 'The webhook path on this server to enter at the provider.',
      examples: ['/v1/integrations/0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f/webhook'],
    }),
    previousSecretUntil: {
      ...Nullable(Type.Unsafe<Date>({ type: 'string', format: 'date-time' })),
      description: 'When the previous secret stops being valid. Null if it is no longer valid.',
    },
    lastDeliveryAt: {
      ...Nullable(Type.Unsafe<Date>({ type: 'string', format: 'date-time' })),
      description: 'When the provider last sent a webhook. Null if it never has.',
    },
    recentDeliveries: Closed(Object.fromEntries(deliveryStatuses.map((status) => [status, count])), {
      description: 'Delivery counts for the last 7 days by status, each up to 10,000.',
    }),
    sync: { ...Nullable(SyncState), description: 'Null if the sync is not set up.' },
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Integration' },
)

export const IntegrationCreate = Closed(
  { provider: Choice(providers), name: IntegrationName, secret: Secret, settings: Type.Optional(AnySettings) },
  {
    allOf: settingsByProvider,
    examples: [
      { provider: 'vapi', name: 'Front desk on Vapi', secret: 'vapi_hmac_secret', settings: { scheme: 'hmac' } },
    ],
  },
)

const dayInSeconds = 24 * 60 * 60

export const IntegrationUpdate = Closed(
  {
    name: Type.Optional(IntegrationName),
    settings: Type.Optional({ ...AnySettings, description: 'Replaces all current settings.' }),
    secret: Type.Optional(Secret),
    previousSecretValidSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * dayInSeconds,
        description: 'How long the previous secret stays valid. Default: one day.',
      }),
    ),
  },
  { minProperties: 1, examples: [{ secret: 'the_next_secret', previousSecretValidSeconds: 3_600 }] },
)

export const defaultPreviousSecretValidSeconds = dayInSeconds
