import Type from 'typebox'
import { Choice, Closed, Email, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { Entitlements, Features, RoleChoice } from '../platform/identity/schema.ts'

const PersonName = { ...Name, examples: ['Ada Lovelace'] }

const memberProperties = {
  id: Id,
  userId: { ...Id, description: 'The person, as referenced by findings, reviews, and keys.' },
  email: Email,
  name: PersonName,
  role: RoleChoice,
  status: Choice(['invited', 'active']),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const Member = Closed(memberProperties, { title: 'Member' })

const invitationProperties = {
  invitationUrl: Type.String({
    description: 'The link for joining. It works once and is shown only in this response.',
    examples: ['https://earshot.example.com/welcome#AZejsF4cfDqaWT8fDC1OX4yQb0mB2cTn7vRj5sHd1gPy9aUe3kQ6zXWw'],
  }),
}

export const InvitedMember = Closed({ ...memberProperties, ...invitationProperties }, { title: 'InvitedMember' })

export const FreshInvitation = Closed(
  { ...invitationProperties, invitationExpiresAt: Timestamp },
  { title: 'FreshInvitation' },
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
    keyId: { ...Nullable(Id), description: 'The API key of the request. Null for a session.' },
    role: { ...RoleChoice, description: 'The lower of the key’s role and the member’s role.' },
    entitlements: Entitlements,
    features: Features,
  },
  { title: 'Me' },
)
