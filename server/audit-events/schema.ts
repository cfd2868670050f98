import Type from 'typebox'
import { Choice, Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

export const AuditEvent = Closed(
  {
    id: Id,
    action: Type.String({ description: 'The resource and the verb.', examples: ['company.update'] }),
    actor: Closed({
      kind: Choice(['key', 'user', 'service'], { description: 'What the caller proved itself with.' }),
      keyId: Nullable(Id),
      userId: { ...Nullable(Id), description: 'The person, or for whom the key acted; null for the operator.' },
    }),
    targets: Type.Array(Closed({ type: Type.String({ examples: ['company'] }), id: Type.String() })),
    requestId: Type.String({ description: 'As the service named the request. It stands in its log too.' }),
    callerRequestId: {
      ...Nullable(Type.String()),
      description: 'As the caller named it by `x-request-id`; nobody checks that it is not used again.',
    },
    createdAt: Timestamp,
  },
  { title: 'AuditEvent' },
)
