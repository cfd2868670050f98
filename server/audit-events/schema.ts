import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp, TimestampInput } from '../platform/http/schemas.ts'

export const AuditEvent = Closed(
  {
    id: Id,
    action: Type.String({ description: 'The resource and what was done to it.', examples: ['company.update'] }),
    actor: Closed({
      kind: Choice(['key', 'user', 'service'], { description: 'How the caller authenticated.' }),
      keyId: Nullable(Id),
      userId: { ...Nullable(Id), description: 'The person, or the person the key acts for. Null for the operator.' },
    }),
    targets: Type.Array(Closed({ type: Type.String({ examples: ['company'] }), id: Type.String() })),
    requestId: Type.String({ description: 'The request ID that Earshot assigned, which is also in Earshot’s log.' }),
    callerRequestId: {
      ...Nullable(Type.String()),
      description: 'The `x-request-id` that the caller sent. Not necessarily unique.',
    },
    reason: {
      ...Nullable(Type.String()),
      description: 'The reason that the caller gave, for operations that require one.',
    },
    createdAt: Timestamp,
  },
  { title: 'AuditEvent' },
)

export const AuditEventQuery = Closed({
  ...PageQuery.properties,
  action: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: '^[A-Za-z]+(\\.[A-Za-z]+)?$',
      description: 'An action such as `company.update`, or all actions on a resource, such as `company`.',
      examples: ['company.update'],
    }),
  ),
  userId: Type.Optional({ ...Id, description: 'Events by this person, or by a key that acts for them.' }),
  since: Type.Optional({ ...TimestampInput, description: 'Events at or after this time.' }),
  until: Type.Optional({ ...TimestampInput, description: 'Events before this time.' }),
})
