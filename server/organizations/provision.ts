import { createApiKey } from '../api-keys/create.ts'
import { inviteMember } from '../members/invitations/invite.ts'
import { insertMember, insertUserIfNew } from '../members/queries.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import { insertOrganization, type Switches } from './queries.ts'

type Provision = { name: string; slug: string; owner: { email: string; name: string } } & Switches

/** A new organization with its owner, the owner's first key and the link by which the owner joins: by the operator, and once on a first start. */
export const provisionOrganization = async (trx: Db, clock: Clock, { owner, ...organization }: Provision) => {
  const org = newId() as OrgId
  const created = await insertOrganization(trx, { id: org, ...organization })
  const userId = await insertUserIfNew(trx, owner)
  const member = await insertMember(trx, org, { id: newId(), userId, ...owner, role: 'owner' })
  const apiKey = await createApiKey(trx, clock, org, userId, { name: 'First key', role: 'owner' })
  const invitation = await inviteMember(trx, clock, org, member.id)
  return { org, organization: created, apiKey, invitation }
}
