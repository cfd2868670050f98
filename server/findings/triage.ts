import type { Db } from '../platform/db/database.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { lockUnmergedFinding } from './lock.ts'
import { moveFinding } from './queries.ts'
import type { FindingTriage } from './schema.ts'
import { movesFrom } from './status-changes.ts'

type Triage = FindingTriage & { now: Date }

/** Changes a finding's status (as the transitions allow), its priority, or both. Returns its ID. */
export const triageFinding = async (
  trx: Db,
  { org, userId }: Actor,
  id: string,
  { status, priority, reason, now }: Triage,
): Promise<string> => {
  if (status === undefined && priority === undefined) throw invalid('status', 'or priority is required')
  const locked = await lockUnmergedFinding(trx, org, id)
  const allowed = movesFrom(locked.status)
  if (status !== undefined && !allowed.includes(status)) {
    throw new ApiError('conflict', `The finding is ${locked.status} and can only become ${allowed.join(', ')}.`)
  }
  const to = { status: status ?? locked.status, priority: priority ?? locked.priority }
  if (to.status === locked.status && to.priority === locked.priority) {
    throw new ApiError('conflict', `The priority is already ${locked.priority}.`)
  }
  await moveFinding(trx, org, {
    id: newId(),
    findingId: locked.id,
    kind: 'triage',
    byUserId: userId,
    from: locked,
    to,
    reason,
    now,
  })
  return locked.id
}
