import { findOrganizationBySlug } from '../../organizations/queries.ts'
import { generateKey } from '../../platform/identity/keys.ts'
import { insertServiceKey, revokeServiceKey } from '../../platform/identity/queries.ts'
import { newId } from '../../platform/ids.ts'
import type { Called } from '../call.ts'
import { print, printJson } from '../columns.ts'
import { openAsItIs } from '../open.ts'
import { makeOwnerKey } from '../owner-key.ts'

const defaultName = 'Command line'

/** Manages the operator's keys in this machine's database. */
export const manage = async ({ action, args: [argument = ''], text, flag }: Called): Promise<number> => {
  const { deps, close } = await openAsItIs({ command: 'keys' })
  const { db, clock, identity } = deps
  try {
    if (action === 'service') {
      const key = generateKey()
      const id = newId()
      await insertServiceKey(db, { id, key, name: text('name') ?? defaultName })
      if (flag('json')) return printJson({ id, key })
      return print(`${key}\nTo revoke it, use its ID: ${id}\n`)
    }
    if (action === 'revoke') {
      // All processes remove the key from their caches, as they do after any change of permissions.
      const revoked = await identity.change('', (trx) => revokeServiceKey(trx, argument, clock.now()))
      if (!revoked) throw new Error(`No service key has the ID ${argument}.`)
      return flag('json') ? printJson({ id: argument, revoked: true }) : print('Revoked.\n')
    }
    const organization = await findOrganizationBySlug(db, argument)
    if (!organization) throw new Error(`No organization has the slug ${argument}.`)
    const created = await makeOwnerKey(deps, organization.org, text('name') ?? defaultName)
    return flag('json') ? printJson(created) : print(`${created.key}\n`)
  } finally {
    await close()
  }
}
