import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { eventTypes } from '../events.ts'

const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const

const properties = {
  id: { ...Id, description: 'The `webhook-id` header of every attempt is `msg_` followed by this ID.' },
  eventType: Choice<string>(eventTypes),
  status: Choice(deliveryStatuses, {
    description: 'pending: the next attempt is at `nextAttemptAt`. succeeded: the endpoint responded with 2xx.',
  }),
  reason: Nullable(
    Type.String({
      description: 'Why the event was rejected or not sent.',
      examples: ['The endpoint returned status 503.'],
    }),
  ),
  attemptCount: Type.Integer({ minimum: 0 }),
  nextAttemptAt: Nullable(Timestamp),
  createdAt: Timestamp,
}

export const Delivery = Closed(properties, { title: 'WebhookDelivery' })

const Attempt = Closed({
  number: Type.Integer({ minimum: 1 }),
  attemptedAt: Timestamp,
  durationMs: Type.Integer({ minimum: 0 }),
  statusCode: Nullable(Type.Integer({ description: 'Null if there was no response.', examples: [503] })),
  error: Nullable(Type.String({ description: 'Why there was no response.' })),
  answer: Nullable(Type.String({ description: 'The first KiB of the response.' })),
})

export const DeliveryWithAttempts = Closed(
  {
    ...properties,
    body: Type.String({
      description: 'The exact body.',
      examples: ['{"type":"webhook.test","timestamp":"2026-11-21T09:30:00.000Z","data":{}}'],
    }),
    attempts: Type.Array(Attempt, { description: 'The 50 latest attempts, newest first.' }),
  },
  { title: 'WebhookDeliveryWithAttempts' },
)

export const DeliveryParams = Closed({ id: Id, deliveryId: Id })

export const DeliveryQuery = Closed({ ...PageQuery.properties, status: Type.Optional(Choice(deliveryStatuses)) })
