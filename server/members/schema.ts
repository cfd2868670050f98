import Type from 'typebox'
import { Choice, Closed, Email, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { Entitlements, Features, RoleChoice } from '../platform/identity/schema.ts'

const PersonName = { ...Name, examples: ['Ada Lovelace'] }

export const Member = Closed(
  {
    id: Id,
    userId: { ...Id, description: 'The person, as findings, reviews and keys name them.' },
    email: Email,
    name: PersonName,
    role: RoleChoice,
    status: Choice(['invited', 'active']),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Member' },
)

export const MemberInvite = Closed({ email: Email, name: PersonName, role: RoleChoice })

export const MemberUpdate = Closed(
  { name: Type.Optional(PersonName), role: Type.Optional(RoleChoice) },
  { minProperties: 1 },
)

export const Me = Closed(
  {
    organization: Closed({ id: Id, name: Type.String(), slug: Type.String() }),
    member: Member,
    keyId: { ...Nullable(Id), description: 'The key that was sent; null for a session.' },
    role: { ...RoleChoice, description: 'The lower of the key’s role and the member’s.' },
    entitlements: Entitlements,
    features: Features,
  },
  { title: 'Me' },
)
