import { findAgentOfVersion } from '../agents/queries.ts'
import { getExperiment } from '../experiments/queries.ts'
import { getFinding } from '../findings/queries.ts'
import type { OwnershipSubject } from '../ownership-rules/match-rule.ts'
import { findInvolved } from '../ownership-rules/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { AlertCondition } from './condition-schema.ts'
import type { StoredRule } from './queries.ts'

const nothing: OwnershipSubject = { agentIds: [], companyIds: [], tags: [] }

/**
 * Returns the agents, companies, and tags in an incident's group or filter. Ownership rules are matched against them.
 */
export const subjectOf = async (
  db: Db,
  org: OrgId,
  { condition, filter, groupBy }: Pick<StoredRule, 'condition' | 'filter' | 'groupBy'>,
  groupKey: string,
): Promise<OwnershipSubject> => {
  // The condition was validated when it was stored.
  const { kind } = condition as AlertCondition
  if (kind === 'finding') {
    const [involved, { tags }] = [await findInvolved(db, org, groupKey), await getFinding(db, org, groupKey)]
    return { ...involved, tags }
  }
  if (kind === 'experiment_health') {
    return { ...nothing, agentIds: [(await getExperiment(db, org, groupKey)).agentId] }
  }
  const { agentIds = [], companyIds = [] } = (filter ?? {}) as { agentIds?: string[]; companyIds?: string[] }
  const filtered = { ...nothing, agentIds, companyIds }
  switch (groupBy) {
    case 'agent':
      return { ...filtered, agentIds: [groupKey] }
    case 'company':
      return { ...filtered, companyIds: [groupKey] }
    case 'version': {
      const agentId = await findAgentOfVersion(db, org, groupKey)
      return agentId === undefined ? filtered : { ...filtered, agentIds: [agentId] }
    }
    case null:
      return filtered
  }
}
