import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { type Message, messageKinds } from '../message.ts'

const deliveryStatuses = ['pending', 'succeeded', 'failed', 'superseded'] as const

const properties = {
  id: Id,
  kind: Choice(messageKinds),
  subjectId: { ...Id, description: 'What the message is about, such as an incident.' },
  title: Type.String({ examples: ['Asks for a person: 31.0% of conversations, above 20%'] }),
  status: Choice(deliveryStatuses, {
    description:
      'pending: the next attempt is at `nextAttemptAt`. superseded: not sent, because a newer message about the same ' +
      'subject replaced it.',
  }),
  reason: Nullable(
    Type.String({
      description: 'Why the message was rejected or not sent.',
      examples: ['The destination responded with 503.'],
    }),
  ),
  attemptCount: Type.Integer({ minimum: 0 }),
  nextAttemptAt: Nullable(Timestamp),
  createdAt: Timestamp,
}

export const MessageDelivery = Closed(properties, { title: 'DestinationDelivery' })

const Attempt = Closed({
  number: Type.Integer({ minimum: 1 }),
  attemptedAt: Timestamp,
  durationMs: Type.Integer({ minimum: 0 }),
  statusCode: Nullable(Type.Integer({ description: 'Null if there was no response.', examples: [503] })),
  error: Nullable(Type.String({ description: 'Why there was no response.' })),
  answer: Nullable(Type.String({ description: 'The first KiB of the response.' })),
})

export const MessageDeliveryWithAttempts = Closed(
  {
    ...properties,
    message: Type.Unsafe<Message>({
      type: 'object',
      additionalProperties: true,
      description: 'The message before it is formatted for the destination.',
    }),
    attempts: Type.Array(Attempt, {
      description: 'The 50 latest requests, newest first. Empty for emails and webhooks.',
    }),
  },
  { title: 'DestinationDeliveryWithAttempts' },
)

export const MessageDeliveryParams = Closed({ id: Id, deliveryId: Id })

export const MessageDeliveryQuery = Closed({
  ...PageQuery.properties,
  status: Type.Optional(Choice(deliveryStatuses)),
})
