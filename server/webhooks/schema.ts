import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { subscribableEvents } from './events.ts'

const EndpointName = { ...Name, maxLength: 100, examples: ['Warehouse'] }

const Url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Where events are posted to: https, on a public host, without credentials.',
  examples: ['https://hooks.example.com/earshot'],
})

const Events = Type.Array(Choice<string>(subscribableEvents), {
  uniqueItems: true,
  description:
    'The kinds that it subscribes to. Beside these it is sent what names it: an export by its ' +
    '`notificationEndpointId`, and tests.',
  examples: [['monitor_export.completed', 'monitor_export.failed']],
})

const properties = {
  id: Id,
  name: EndpointName,
  url: Url,
  events: Events,
  status: Choice(['proposed', 'active', 'disabled'], {
    description: 'proposed: waits for the approval of an admin. Only an active one is sent anything.',
  }),
  disabledReason: {
    ...Nullable(Choice(['by_admin', 'gone', 'failing'])),
    description:
      'gone: it answered 410. failing: a delivery ran out of attempts, and nothing had been accepted for 5 days.',
  },
  failingSince: {
    ...Nullable(Timestamp),
    description: 'The first failed attempt since anything was accepted; null when all is well.',
  },
  previousSecretUntil: {
    ...Nullable(Timestamp),
    description: 'Until when the secret before this one signs too; null when it does not.',
  },
  approvedByUserId: { ...Nullable(Id), description: 'Who approved the present address.' },
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
      description: 'What its deliveries are signed with. It is shown in this answer alone.',
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
    url: { ...Url, description: 'The address that you looked at: the approval is refused when it is another by now.' },
  },
  additionalProperties: false,
})
