import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { clearOwner, listRoutes, removeRoutedDestination, type StoredOwnershipRule } from './queries.ts'

/** The properties of a finding or an incident that rules can match. */
export type OwnershipSubject = { agentIds: string[]; companyIds: string[]; tags: string[] }

/** Returns whether all of the subject's IDs or tags are listed. An empty list matches everything. */
const coversAll = (listed: string[], about: string[]): boolean =>
  listed.length === 0 || (about.length > 0 && about.every((id) => listed.includes(id)))

const coversTag = (listed: string[], tags: string[]): boolean => {
  const given = new Set(tags.map((tag) => tag.toLowerCase()))
  return listed.length === 0 || listed.some((tag) => given.has(tag.toLowerCase()))
}

const isAbout = (rule: StoredOwnershipRule, { agentIds, companyIds, tags }: OwnershipSubject): boolean =>
  coversAll(rule.agentIds, agentIds) && coversAll(rule.companyIds, companyIds) && coversTag(rule.tags, tags)

/** Returns the first matching rule that names an owner or a destination. With `needsOwner`, it must name an owner. */
export const findRoute = async (
  db: Db,
  org: OrgId,
  subject: OwnershipSubject,
  { needsOwner = false } = {},
): Promise<{ ownerUserId: string | null; destinationIds: string[] } | undefined> => {
  const routes = await listRoutes(db, org)
  return routes
    .filter(({ ownerUserId, destinationIds }) => ownerUserId !== null || (!needsOwner && destinationIds.length > 0))
    .find((rule) => isAbout(rule, subject))
}

// Updates rules when a resource that they refer to is deleted.

export const clearOwnerWhoLeft = (_deps: Deps, trx: Db, org: OrgId, { userId }: { userId: string }) =>
  clearOwner(trx, org, userId)

export const removeDestinationOfRoutes = (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { destinationId }: { destinationId: string },
) => removeRoutedDestination(trx, org, destinationId)
