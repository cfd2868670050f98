import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { subscribableEvents } from './events.ts'

const EndpointName = { ...Name, maxLength: 100, examples: ['Warehouse'] }

const Url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Where events are sent: an `https` URL on a public host, without credentials.',
  examples: ['https://hooks.example.com/earshot'],
})

const Events = Type.Array(Choice<string>(subscribableEvents), {
  uniqueItems: true,
  description:
    'The subscribed event types. The endpoint also receives tests, and events for exports that use it as ' +
    '`notificationEndpointId`.',
  examples: [['monitor_export.completed', 'monitor_export.failed']],
})

const properties = {
  id: Id,
  name: EndpointName,
  url: Url,
  events: Events,
  status: Choice(['proposed', 'active', 'disabled'], {
    description: 'proposed: waiting for an admin’s approval. Only active endpoints receive events.',
  }),
  disabledReason: {
    ...Nullable(Choice(['by_admin', 'gone', 'failing'])),
    description:
      'gone: the endpoint responded with 410. failing: a delivery ran out of attempts, and no delivery had ' +
      'succeeded for 5 days.',
  },
  failingSince: {
    ...Nullable(Timestamp),
    description: 'The first failed attempt since the last success. Null if there is none.',
  },
  previousSecretUntil: {
    ...Nullable(Timestamp),
    description: 'Until then, deliveries are also signed with the previous secret. Null if they no longer are.',
  },
  approvedByUserId: { ...Nullable(Id), description: 'Who approved the current address.' },
  approvedAt: Nullable(Timestamp),
  createdByUserId: Id,
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const WebhookEndpoint = Closed(properties, { title: 'WebhookEndpoint' })

export const WebhookEndpointWithSecret = Closed(
  {
    ...properties,
    secret: Type.String({
      description: 'The signing secret, shown only in this response.',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazHs1Kxo8zo='],
    }),
  },
  { title: 'WebhookEndpointWithSecret' },
)

export const WebhookEndpointCreate = Closed({ name: EndpointName, url: Url, events: Type.Optional(Events) })

export const WebhookEndpointUpdate = Closed(
  { name: Type.Optional(EndpointName), url: Type.Optional(Url), events: Type.Optional(Events) },
  { minProperties: 1 },
)

export const Approval = Type.Unsafe<{ url?: string } | null>({
  type: ['object', 'null'],
  properties: {
    url: {
      ...Url,
      description: 'The address you reviewed. The approval is rejected if the endpoint’s address has changed.',
    },
  },
  additionalProperties: false,
})
