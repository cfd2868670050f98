import type { Db } from '../platform/db/database.ts'
import { newId, orgIdOf } from '../platform/ids.ts'
import type { OrganizationDeps } from './deps.ts'
import { insertOrganization, type Switches } from './queries.ts'

type Provision = { name: string; slug: string; owner: { email: string; name: string } } & Switches

/**
 * Creates an organization with its owner, the owner's first key, and an invitation link. Operators call this, and it
 * also runs once on the first start.
 */
export const provisionOrganization = async (
  deps: Pick<OrganizationDeps, 'admitOwner' | 'clock' | 'baseUrl' | 'reactions'>,
  trx: Db,
  { owner, ...organization }: Provision,
) => {
  const org = orgIdOf(newId())
  const created = await insertOrganization(trx, { id: org, ...organization })
  const admitted = await deps.admitOwner(deps, trx, org, owner)
  await deps.reactions.organizationCreated(trx, org, {})
  return { org, organization: created, ...admitted }
}
