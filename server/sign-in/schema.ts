import Type, { type Static } from 'typebox'
import { Closed, Email, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { RoleChoice } from '../platform/identity/schema.ts'

export const Password = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'At least 12 characters when choosing a new one.',
  examples: ['correct horse battery staple'],
})
const NewPassword = { ...Password, minLength: 12, description: 'At least 12 characters.' }

const Token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The part of the invitation link after the #.',
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
        'Whether the link sets a new password. Otherwise, an existing account enters its password and a new ' +
        'one chooses it; the response does not reveal which.',
    }),
    setsEmail: Type.Boolean({ description: 'Whether the person enters an email address when joining.' }),
  },
  { title: 'InvitationOffer' },
)

export const InvitationAcceptance = Closed({
  token: Token,
  name: { ...Name, examples: ['Ada Lovelace'] },
  password: { ...Password, description: 'A new password of at least 12 characters, or the person’s existing one.' },
  email: Type.Optional({
    ...Email,
    description: 'The email address to sign in with, for the first person on a server.',
  }),
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

/** The signed-in person, and their organization. */
export const Session = Closed(
  {
    userId: Id,
    email: Email,
    name: { ...Name, examples: ['Ada Lovelace'] },
    organizationId: {
      ...Nullable(Id),
      description: 'The organization that requests to `/v1` act in. Null if the person does not belong to one.',
    },
  },
  { title: 'Session' },
)

export const OrganizationSwitch = Closed({ organizationId: Id })

const OwnInvitation = Closed(
  { organizationId: Id, organization: OrganizationName, role: RoleChoice, invitedAt: Timestamp },
  { title: 'OwnInvitation' },
)

export const OwnInvitations = Closed({ data: Type.Array(OwnInvitation) })
