import Type from 'typebox'
import { Choice, Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

export const AuditEvent = Closed(
  {
    id: Id,
    action: Type.String({ description: 'The resource and the verb.', examples: ['company.update'] }),
    actor: Closed({
      kind: Choice(['key', 'user', 'service'], { description: 'How the caller authenticated.' }),
      keyId: Nullable(Id),
      userId: { ...Nullable(Id), description: 'The person, or the person the key acts for. Null for the operator.' },
    }),
    targets: Type.Array(Closed({ type: Type.String({ examples: ['company'] }), id: Type.String() })),
    requestId: Type.String({ description: 'The request ID that Earshot assigned, which is also in its log.' }),
    callerRequestId: {
      ...Nullable(Type.String()),
      description: 'The `x-request-id` that the caller sent. It may not be unique.',
    },
    createdAt: Timestamp,
  },
  { title: 'AuditEvent' },
)
