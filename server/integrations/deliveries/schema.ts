import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { deliveryStatuses } from './status.ts'

const properties = {
  id: Id,
  status: Choice(deliveryStatuses, {
    description:
      'pending: the announced data has not been retrieved yet. applied: the delivery changed a conversation. ' +
      'unchanged: it contained nothing new. ignored: it does not belong to a finished conversation. unreadable, ' +
      'rejected, failed: see `reason`. erased: its conversation was erased.',
  }),
  event: Nullable(Type.String({ description: 'The provider’s name for the event.', examples: ['end-of-call-report'] })),
  reason: Nullable(Type.String({ description: 'Why the delivery was not applied.' })),
  conversationId: Nullable(Id),
  bytes: Type.Integer({ minimum: 0 }),
  contentType: Nullable(Type.String({ examples: ['application/json'] })),
  receivedAt: Timestamp,
  replayable: Type.Boolean({ description: 'Whether the payload is still stored.' }),
}

export const Delivery = Closed(properties, { title: 'IntegrationDelivery' })

export const DeliveryWithPayload = Closed(
  {
    ...properties,
    payload: Nullable(Type.String({ description: 'The payload as text. Null if it is no longer stored.' })),
  },
  { title: 'IntegrationDeliveryWithPayload' },
)

export const DeliveryParams = Closed({ id: Id, deliveryId: Id })

export const DeliveryQuery = Closed({ ...PageQuery.properties, status: Type.Optional(Choice(deliveryStatuses)) })

/** The response to a provider. */
export const Received = Closed({
  deliveryId: Id,
  status: Choice(deliveryStatuses),
  conversationId: Nullable(Id),
})
