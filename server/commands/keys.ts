import { parseArgs } from 'node:util'
import { createApiKey } from '../api-keys/create.ts'
import type { Deps } from '../deps.ts'
import type { Command } from '../main.ts'
import { getFirstOwner } from '../members/queries.ts'
import { findOrganizationBySlug } from '../organizations/queries.ts'
import { recordServiceAudit } from '../platform/audit/record.ts'
import type { OrgId } from '../platform/db/database.ts'
import { generateKey } from '../platform/identity/keys.ts'
import { insertServiceKey, revokeServiceKey } from '../platform/identity/queries.ts'
import { newId } from '../platform/ids.ts'
import { open } from './open.ts'

const usage = `Usage:
  earshot keys service [--name NAME]     make a service key, which provisions organizations
  earshot keys revoke KEY-ID             revoke a service key
  earshot keys owner SLUG [--name NAME]  make a key that acts for the owner of an organization
A key is printed once; only its hash is kept.
`

/** A key that acts for the first owner; the operator made it, as the audit log says. */
export const makeOwnerKey = ({ db, clock }: Deps, org: OrgId, name: string) =>
  db.transaction().execute(async (trx) => {
    const owner = await getFirstOwner(trx, org)
    const apiKey = await createApiKey(trx, clock, org, owner.userId, { name, role: 'owner' })
    const operator = { kind: 'service', keyId: null, requestId: `command line ${newId()}` } as const
    await recordServiceAudit(trx, org, operator, 'apiKey.create', { type: 'apiKey', id: apiKey.id })
    return apiKey
  })

const print = (text: string) => process.stdout.write(`${text}\n`)

export const run: Command = async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { name: { type: 'string', default: 'Command line' }, help: { type: 'boolean' } },
  })
  const [verb, argument, ...more] = positionals
  const takesArgument = verb === 'owner' || verb === 'revoke'
  const known = (verb === 'service' || takesArgument) && takesArgument === (argument !== undefined) && more.length === 0
  if (values.help || !known) {
    process.stdout.write(usage)
    return values.help ? 0 : 2
  }
  const { deps, close } = await open({ command: 'keys', exclusive: 'preferred' })
  const { db, clock, identity } = deps
  try {
    if (verb === 'service') {
      const key = generateKey()
      const id = newId()
      await insertServiceKey(db, { id, key, name: values.name })
      print(`${key}\nIts id, to revoke it by, is ${id}.`)
      return 0
    }
    if (verb === 'revoke') {
      // Every process forgets it, as after any change of who may do what.
      const revoked = await identity.change('', (trx) => revokeServiceKey(trx, argument as string, clock.now()))
      if (!revoked) throw new Error(`No service key has the id ${argument}.`)
      print('Revoked.')
      return 0
    }
    const organization = await findOrganizationBySlug(db, argument as string)
    if (!organization) throw new Error(`No organization has the slug ${argument}.`)
    const created = await makeOwnerKey(deps, organization.org, values.name)
    print(created.key)
    return 0
  } finally {
    await close()
  }
}
