import { invitationUrl, inviteMember } from '../members/invitations/invite.ts'
import { mailInvitation } from '../members/invitations/mail-invitation.ts'
import { findMemberByEmail, getFirstOwner, lockMember } from '../members/queries.ts'
import { findOrganizationBySlug } from '../organizations/queries.ts'
import { recordServiceAudit } from '../platform/audit/record.ts'
import { Email } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { strict } from '../platform/json-schema.ts'
import { makeAddressLink } from '../sign-in/address/link.ts'
import { findUserIdByEmail } from '../sign-in/attempts/queries.ts'
import type { RunCommand } from './call.ts'
import { print, printJson } from './columns.ts'
import { openAsItIs } from './open.ts'

const lifetimeMs = 7 * 24 * 60 * 60 * 1_000

export const run: RunCommand = async ({ args, text, flag }) => {
  const [email, newEmail] = [text('email'), text('new-email')?.toLowerCase()]
  if (newEmail !== undefined && !strict.validate(Email, newEmail))
    throw new Error(`${newEmail} is not an email address.`)
  // The command line requires the argument.
  const slug = args[0] as string
  const { deps, close } = await openAsItIs({ command: 'link' })
  const { db, clock, baseUrl } = deps
  try {
    const organization = await findOrganizationBySlug(db, slug)
    if (!organization) throw new Error(`No organization has the slug ${slug}.`)
    const { org } = organization
    const url = await db.transaction().execute(async (trx) => {
      const member = await (email === undefined ? getFirstOwner(trx, org) : findMemberByEmail(trx, org, email))
      if (!member) throw new Error(`No member of ${slug} has the address ${email}.`)
      await lockMember(trx, org, member.id)
      const operator = { kind: 'service', keyId: null, requestId: `command line ${newId()}` } as const
      if (newEmail !== undefined) {
        // An organization only controls the accounts of people who have joined it.
        if (member.status !== 'active')
          throw new Error(`${member.email} has not joined ${slug} yet. Invite ${newEmail} instead.`)
        if ((await findUserIdByEmail(trx, newEmail)) !== undefined)
          throw new Error(`Another account already uses ${newEmail}.`)
        await recordServiceAudit(trx, org, operator, 'member.offerEmail', { type: 'member', id: member.id })
        return makeAddressLink(deps, trx, { userId: member.userId, email: newEmail, lifetimeMs })
      }
      await recordServiceAudit(trx, org, operator, 'member.invite', { type: 'member', id: member.id })
      const invitation = await inviteMember(trx, clock, org, member.id, { byOperator: true })
      await mailInvitation(deps, trx, org, { email: member.email, invitation }, 'operator')
      return invitationUrl(baseUrl(), invitation)
    })
    return flag('json') ? printJson({ url }) : print(`${url}\n`)
  } finally {
    await close()
  }
}
