import Type from 'typebox'
import { Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

const RuleName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', examples: ['Bookings'] })
const Position = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description: 'Rules are tried in this order, starting at 1.',
})

const fields = {
  agentIds: Type.Array(Id, {
    maxItems: 50,
    uniqueItems: true,
    description: 'Matches only these agents. Empty: any.',
  }),
  companyIds: Type.Array(Id, {
    maxItems: 50,
    uniqueItems: true,
    description: 'Matches only these companies. Empty: any.',
  }),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 50, pattern: '\\S', examples: ['refund'] }), {
    maxItems: 20,
    description: 'Matches only findings with one of these tags, ignoring case. Empty: any.',
  }),
  ownerUserId: { ...Nullable(Id), description: 'The `userId` of the member in charge.' },
  destinationIds: Type.Array(Id, {
    maxItems: 20,
    uniqueItems: true,
    description: 'Where incidents are sent, in addition to the destinations of their alert rule.',
  }),
}

export const OwnershipRule = Closed(
  { id: Id, name: RuleName, position: Position, ...fields, createdAt: Timestamp, updatedAt: Timestamp },
  { title: 'OwnershipRule' },
)

const optional = {
  position: Type.Optional(Position),
  agentIds: Type.Optional(fields.agentIds),
  companyIds: Type.Optional(fields.companyIds),
  tags: Type.Optional(fields.tags),
  ownerUserId: Type.Optional(fields.ownerUserId),
  destinationIds: Type.Optional(fields.destinationIds),
}

export const OwnershipRuleCreate = Closed(
  { name: RuleName, ...optional },
  {
    examples: [
      {
        name: 'Bookings',
        agentIds: ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'],
        ownerUserId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f',
      },
    ],
  },
)

export const OwnershipRuleUpdate = Closed(
  { name: Type.Optional(RuleName), ...optional },
  { minProperties: 1, examples: [{ position: 1 }] },
)
