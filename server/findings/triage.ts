import type { Db } from '../platform/db/database.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { lockUnmergedFinding } from './lock.ts'
import { moveFinding } from './queries.ts'
import type { FindingTriage } from './schema.ts'
import { movesFrom } from './status-changes.ts'

type Triage = FindingTriage & { now: Date }

/** Changes a finding's status as the table of transitions allows, its priority, or both. Returns its ID. */
export const triageFinding = async (
  trx: Db,
  { org, userId }: Actor,
  id: string,
  { status, priority, reason, now }: Triage,
): Promise<string> => {
  if (status === undefined && priority === undefined) throw invalid('status', 'or priority is required')
  const held = await lockUnmergedFinding(trx, org, id)
  const allowed = movesFrom(held.status)
  if (status !== undefined && !allowed.includes(status)) {
    throw new ApiError('conflict', `The finding is ${held.status} and can only become ${allowed.join(', ')}.`)
  }
  const to = { status: status ?? held.status, priority: priority ?? held.priority }
  if (to.status === held.status && to.priority === held.priority) {
    throw new ApiError('conflict', `The priority is already ${held.priority}.`)
  }
  await moveFinding(trx, org, {
    id: newId(),
    findingId: held.id,
    kind: 'triage',
    byUserId: userId,
    from: held,
    to,
    reason,
    now,
  })
  return held.id
}
