import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { deliveryStatuses } from './status.ts'

const properties = {
  id: Id,
  status: Choice(deliveryStatuses, {
    description:
      'pending: what it announced is yet to be fetched. applied, unchanged: a conversation was completed by it, or knew ' +
      'it all. ignored: of no finished conversation. unreadable, rejected, failed: `reason` says why. erased: of a ' +
      'conversation that was erased.',
  }),
  event: Nullable(Type.String({ description: 'The provider’s own name for it.', examples: ['end-of-call-report'] })),
  reason: Nullable(Type.String({ description: 'Why it was not applied.' })),
  conversationId: Nullable(Id),
  bytes: Type.Integer({ minimum: 0 }),
  contentType: Nullable(Type.String({ examples: ['application/json'] })),
  receivedAt: Timestamp,
  replayable: Type.Boolean({ description: 'Whether what was sent is still kept.' }),
}

export const Delivery = Closed(properties, { title: 'IntegrationDelivery' })

export const DeliveryWithPayload = Closed(
  {
    ...properties,
    payload: Nullable(Type.String({ description: 'What was sent, as text; null when it is not kept.' })),
  },
  { title: 'IntegrationDeliveryWithPayload' },
)

export const DeliveryParams = Closed({ id: Id, deliveryId: Id })

export const DeliveryQuery = Closed({ ...PageQuery.properties, status: Type.Optional(Choice(deliveryStatuses)) })

/** What a provider is answered. */
export const Received = Closed({
  deliveryId: Id,
  status: Choice(deliveryStatuses),
  conversationId: Nullable(Id),
})
