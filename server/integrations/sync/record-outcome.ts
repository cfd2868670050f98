import type { Db, OrgId } from '../../platform/db/database.ts'
import { newId } from '../../platform/ids.ts'
import type { SettledDelivery } from '../deliveries/status.ts'
import { mayGoOn } from './classify-calls.ts'
import { deleteGap, findGaps, upsertGap } from './gaps/queries.ts'
import { retryGapMs } from './limits.ts'
import { lockSyncShared } from './queries.ts'
import { settlePending } from './runs/queries.ts'

/** Another process has ended the run or handled the call in the meantime, so nothing is stored here. */
export class Superseded extends Error {}

type Call = { run: { id: string; integrationId: string }; externalId: string; beganAt: Date | null; now: Date }

const lacking = async (
  trx: Db,
  org: OrgId,
  { run, externalId, beganAt, now }: Call,
  { state, reason }: { state: 'unfinished' | 'failed'; reason: string | null },
): Promise<void> => {
  await lockSyncShared(trx, org, run.integrationId)
  const [gap] = await findGaps(trx, org, run.integrationId, [externalId])
  const counter = gap?.state === state ? undefined : state
  if (!(await settlePending(trx, org, run.id, externalId, counter))) throw new Superseded()
  const waitMs = state === 'failed' ? retryGapMs(gap?.attempts ?? 0) : 0
  const nextTryAt = new Date(now.getTime() + waitMs)
  await upsertGap(trx, org, run.integrationId, {
    id: newId(),
    externalId,
    state,
    reason,
    beganAt,
    triedAt: now,
    nextTryAt,
  })
}

/** Records a failed call, which stays visible and is retried. */
export const settleFailed = (trx: Db, org: OrgId, call: Call, reason: string): Promise<void> =>
  lacking(trx, org, call, { state: 'failed', reason })

/** Records the outcome of a fetched call, in the transaction that stored the call. */
export const settleFetched = async (
  trx: Db,
  org: OrgId,
  call: Call,
  { status, reason }: SettledDelivery,
): Promise<void> => {
  const { run, externalId, now } = call
  if (status === 'applied' || status === 'unchanged' || status === 'erased') {
    await lockSyncShared(trx, org, run.integrationId)
    const counter = { applied: 'filled', unchanged: 'stored', erased: 'erased' } as const
    if (!(await settlePending(trx, org, run.id, externalId, counter[status]))) throw new Superseded()
    return deleteGap(trx, org, run.integrationId, externalId)
  }
  if (status !== 'ignored') return settleFailed(trx, org, call, reason ?? 'The call could not be stored.')
  const [gap] = await findGaps(trx, org, run.integrationId, [externalId])
  const goesOn = mayGoOn(call.beganAt ?? gap?.beganAt ?? null, now)
  return goesOn
    ? lacking(trx, org, call, { state: 'unfinished', reason: null })
    : settleFailed(trx, org, call, 'The provider still reports the call as in progress a day after it started.')
}
