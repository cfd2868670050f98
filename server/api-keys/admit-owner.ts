import { invitationUrl, inviteMember } from '../members/invitations/invite.ts'
import { insertMember, insertUserIfNew } from '../members/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { newId } from '../platform/ids.ts'
import { createApiKey } from './create.ts'

/** Adds the owner of a new organization as its first member, with a first key and an invitation link. */
export const admitOwner = async (
  { clock, baseUrl }: Pick<Deps, 'clock' | 'baseUrl'>,
  trx: Db,
  org: OrgId,
  owner: { email: string; name: string },
) => {
  const userId = await insertUserIfNew(trx, owner)
  const member = await insertMember(trx, org, { id: newId(), userId, ...owner, role: 'owner' })
  const apiKey = await createApiKey(trx, clock, org, userId, { name: 'First key', role: 'owner' })
  const invitation = await inviteMember(trx, clock, org, member.id)
  return { apiKey, invitationUrl: invitationUrl(baseUrl(), invitation) }
}
