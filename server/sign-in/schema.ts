import Type, { type Static } from 'typebox'
import { Closed, Email, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { RoleChoice } from '../platform/identity/schema.ts'

export const Password = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'At least 12 characters where it is chosen.',
  examples: ['correct horse battery staple'],
})
const NewPassword = { ...Password, minLength: 12, description: 'At least 12 characters.' }

const Token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'What stands behind the # of an invitation’s link.',
  examples: ['AZejsF4cfDqaWT8fDC1OX4yQb0mB2cTn7vRj5sHd1gPy9aUe3kQ6zXWw'],
})

const OrganizationName = Type.String({ examples: ['Acme Voice'] })

export const SignIn = Closed({ email: Email, password: Password })

export const PasswordChange = Closed({ currentPassword: Password, newPassword: NewPassword })

export const InvitationCheck = Closed({ token: Token })

export const InvitationOffer = Closed(
  {
    email: Email,
    organization: OrganizationName,
    setsPassword: Type.Boolean({
      description:
        'Whether the link sets a new password. Otherwise an existing account with the address gives its password, and a new ' +
        'one chooses it; which of them it is, is not told.',
    }),
    setsEmail: Type.Boolean({ description: 'Whether `email` stands for an address that is given when joining.' }),
  },
  { title: 'InvitationOffer' },
)

export const InvitationAcceptance = Closed({
  token: Token,
  name: { ...Name, examples: ['Ada Lovelace'] },
  password: { ...Password, description: 'A new one of at least 12 characters, or the one that the person has.' },
  email: Type.Optional({ ...Email, description: 'The address to sign in with, for the first person of an instance.' }),
})
export type InvitationAcceptance = Static<typeof InvitationAcceptance>

const JoinedOrganization = Closed({
  id: Id,
  name: OrganizationName,
  slug: Type.String({ examples: ['acme-voice'] }),
  role: RoleChoice,
  suspended: Type.Boolean(),
})

export const JoinedOrganizations = Closed({ data: Type.Array(JoinedOrganization) })

/** Who is signed in, and where. */
export const Session = Closed(
  {
    userId: Id,
    email: Email,
    name: { ...Name, examples: ['Ada Lovelace'] },
    organizationId: { ...Nullable(Id), description: 'What requests to /v1 are about; null for a member of none.' },
  },
  { title: 'Session' },
)

export const OrganizationSwitch = Closed({ organizationId: Id })

const OwnInvitation = Closed(
  { organizationId: Id, organization: OrganizationName, role: RoleChoice, invitedAt: Timestamp },
  { title: 'OwnInvitation' },
)

export const OwnInvitations = Closed({ data: Type.Array(OwnInvitation) })
