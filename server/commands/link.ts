import { parseArgs } from 'node:util'
import type { Command } from '../main.ts'
import { getFirstOwner, lockMember } from '../members/queries.ts'
import { findOrganizationBySlug } from '../organizations/queries.ts'
import { recordServiceAudit } from '../platform/audit/record.ts'
import { newId } from '../platform/ids.ts'
import { invitationUrl, inviteMember } from '../sign-in/invite.ts'
import { open } from './open.ts'

const usage = `Usage:
  earshot link SLUG   make a fresh one-time link by which the owner of an organization joins
The former link ends. An owner who has joined signs in with the password and needs no link.
`

export const run: Command = async (args) => {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { help: { type: 'boolean' } } })
  const [slug] = positionals
  if (values.help || slug === undefined) {
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
      const owner = await getFirstOwner(trx, org)
      const { joinedAt } = await lockMember(trx, org, owner.id)
      if (joinedAt) throw new Error(`${owner.email} has joined already and signs in with the password.`)
      const operator = { kind: 'service', keyId: null, requestId: `command line ${newId()}` } as const
      await recordServiceAudit(trx, org, operator, 'member.invite', { type: 'member', id: owner.id })
      return inviteMember(trx, clock, org, owner.id)
    })
    process.stdout.write(`${invitationUrl(baseUrl(), invitation)}\n`)
    return 0
  } finally {
    await close()
  }
}
