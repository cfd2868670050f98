import type { Static } from 'typebox'
import { findAgents } from '../agents/queries.ts'
import { findCompanyIds } from '../companies/queries.ts'
import { findDestinationIds } from '../destinations/queries.ts'
import { isMember } from '../members/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import type { OwnershipFields } from './queries.ts'
import type { OwnershipRuleUpdate } from './schema.ts'

type OwnershipInput = Static<typeof OwnershipRuleUpdate>

const lower = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))]

/** Returns the stored settings, overridden by the given ones. */
export const withGiven = (present: OwnershipFields, given: OwnershipInput): OwnershipFields => ({
  ...present,
  ...(given.name !== undefined && { name: given.name }),
  ...(given.agentIds && { agentIds: lower(given.agentIds) }),
  ...(given.companyIds && { companyIds: lower(given.companyIds) }),
  ...(given.tags && { tags: given.tags.map((tag) => tag.trim()) }),
  ...(given.ownerUserId !== undefined && { ownerUserId: given.ownerUserId?.toLowerCase() ?? null }),
  ...(given.destinationIds && { destinationIds: lower(given.destinationIds) }),
})

const missing = (path: string, ids: string[], known: string[], what: string): Issue[] =>
  ids.flatMap((id, index) =>
    known.includes(id) ? [] : [{ path: `${path}[${index}]`, message: `is not ${what} of your organization` }],
  )

/**
 * Throws if a rule names neither an owner nor a destination, or if a given ID does not exist. Stored IDs may have been
 * deleted since, which must not prevent other changes.
 */
export const checkOwnership = async (
  trx: Db,
  org: OrgId,
  fields: OwnershipFields,
  given: OwnershipInput,
): Promise<void> => {
  const { agentIds, companyIds, ownerUserId, destinationIds } = fields
  const issues: Issue[] = []
  if (ownerUserId === null && destinationIds.length === 0) {
    issues.push({ path: 'ownerUserId', message: 'is required unless there is a destination' })
  }
  if (given.agentIds) {
    const known = (await findAgents(trx, org, { ids: agentIds, externalIds: [] })).map(({ id }) => id)
    issues.push(...missing('agentIds', agentIds, known, 'an agent'))
  }
  if (given.companyIds) {
    issues.push(...missing('companyIds', companyIds, await findCompanyIds(trx, org, companyIds), 'a company'))
  }
  if (given.destinationIds) {
    const known = await findDestinationIds(trx, org, destinationIds)
    issues.push(...missing('destinationIds', destinationIds, known, 'a destination'))
  }
  if (given.ownerUserId && ownerUserId !== null && !(await isMember(trx, org, ownerUserId))) {
    issues.push({ path: 'ownerUserId', message: 'is not a member of your organization' })
  }
  if (issues.length > 0) throw invalidAll(issues)
}
