import { parseArgs } from 'node:util'
import type { Command } from '../main.ts'
import { findMemberByEmail, getFirstOwner, lockMember } from '../members/queries.ts'
import { findOrganizationBySlug } from '../organizations/queries.ts'
import { recordServiceAudit } from '../platform/audit/record.ts'
import { newId } from '../platform/ids.ts'
import { invitationUrl, inviteMember } from '../sign-in/invite.ts'
import { mailInvitation } from '../sign-in/mail-invitation.ts'
import { open } from './open.ts'

const usage = `Usage:
  earshot link SLUG [--email ADDRESS]   make a one-time link for the owner of an organization, or for another member
Whoever opens it within seven days chooses a password, which takes the place of a former one and ends all sessions, and
joins the organization, if they have not yet. The member's former link ends. With EARSHOT_SMTP_URL it is mailed, too.
`

export const run: Command = async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { email: { type: 'string' }, help: { type: 'boolean' } },
  })
  const { email } = values
  const [slug, ...more] = positionals
  if (values.help || slug === undefined || more.length > 0) {
    process.stdout.write(usage)
    return values.help ? 0 : 2
  }
  const { deps, close } = await open({ command: 'link', exclusive: 'preferred' })
  const { db, clock, baseUrl } = deps
  try {
    const organization = await findOrganizationBySlug(db, slug)
    if (!organization) throw new Error(`No organization has the slug ${slug}.`)
    const { org } = organization
    const invitation = await db.transaction().execute(async (trx) => {
      const member = await (email === undefined ? getFirstOwner(trx, org) : findMemberByEmail(trx, org, email))
      if (!member) throw new Error(`No member of ${slug} has the address ${email}.`)
      await lockMember(trx, org, member.id)
      const operator = { kind: 'service', keyId: null, requestId: `command line ${newId()}` } as const
      await recordServiceAudit(trx, org, operator, 'member.invite', { type: 'member', id: member.id })
      const invitation = await inviteMember(trx, clock, org, member.id, { byOperator: true })
      await mailInvitation(deps, trx, org, { email: member.email, invitation }, 'operator')
      return invitation
    })
    process.stdout.write(`${invitationUrl(baseUrl(), invitation)}\n`)
    return 0
  } finally {
    await close()
  }
}
