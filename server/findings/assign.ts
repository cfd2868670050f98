import { findRoute } from '../ownership-rules/match-rule.ts'
import { findInvolved } from '../ownership-rules/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { updateFinding } from './queries.ts'

type Unassigned = {
  findingId: string
  tags?: string[]
  /** By default, the agents in the finding's conversations. */
  agentIds?: string[]
  now: Date
}

/** Assigns a new finding to its owner according to the ownership rules, if there is one. */
export const assignByRules = async (
  { reactions }: Pick<Deps, 'reactions'>,
  trx: Db,
  org: OrgId,
  { findingId, tags = [], agentIds, now }: Unassigned,
): Promise<void> => {
  const involved = await findInvolved(trx, org, findingId)
  const subject = { ...involved, ...(agentIds && { agentIds }), tags }
  const assigneeUserId = (await findRoute(trx, org, subject, { needsOwner: true }))?.ownerUserId
  if (!assigneeUserId) return
  await updateFinding(trx, org, findingId, { assigneeUserId, now })
  await reactions.findingAssigned(trx, org, { findingId, assigneeUserId, byUserId: null, at: now })
}
