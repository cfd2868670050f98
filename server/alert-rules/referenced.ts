import { resolveIncident } from '../alert-incidents/lifecycle.ts'
import { lockOpenIncidents } from '../alert-incidents/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { clearRuleOwner, disableRules, removeDestination } from './queries.ts'

// Updates rules after a resource that they refer to is deleted.

export const removeDeletedDestination = (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { destinationId }: { destinationId: string },
) => removeDestination(trx, org, destinationId)

export const clearOwnerOfAlertRules = (_deps: Deps, trx: Db, org: OrgId, { userId }: { userId: string }) =>
  clearRuleOwner(trx, org, userId)

/**
 * Disables the rules of a deleted monitor. They could never fire again, and this way, people see that they are
 * disabled.
 */
export const disableRulesOfMonitor = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { monitorId }: { monitorId: string },
): Promise<void> => {
  const now = deps.clock.now()
  for (const { id } of await disableRules(trx, org, monitorId, now)) {
    for (const incident of await lockOpenIncidents(trx, org, id)) {
      await resolveIncident(deps, trx, org, incident, null, now)
    }
  }
}
