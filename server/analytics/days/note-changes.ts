// Notes the hours of changed conversations in the transaction of the change. These hours are read from the
// conversations until their sums are rebuilt.

import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { hourMs } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'
import { insertChanges, listHoursOf } from './queries.ts'

type NoteDeps = Pick<Deps, 'clock'>

const hoursOf = (times: Date[]): Date[] => {
  const hours = new Set(times.map((time) => Math.floor(time.getTime() / hourMs) * hourMs))
  return [...hours].map((ms) => new Date(ms))
}

const noteHours = async ({ clock }: NoteDeps, trx: Db, org: OrgId, hours: Date[], onlyResults: boolean) => {
  if (hours.length > 0) await insertChanges(trx, org, hours, { id: newId(), at: clock.now(), onlyResults })
}

/** Notes the hours of conversations that arrived, changed, or are about to be erased. */
export const noteChangedHours = (
  deps: NoteDeps,
  trx: Db,
  org: OrgId,
  { conversations }: { conversations: { startedAt: Date }[] },
): Promise<void> => noteHours(deps, trx, org, hoursOf(conversations.map(({ startedAt }) => startedAt)), false)

/** Notes the hours of conversations that received metrics. */
export const noteMeasuredHours = async (
  deps: NoteDeps,
  trx: Db,
  org: OrgId,
  { measured }: { measured: string[] },
): Promise<void> => {
  if (measured.length > 0) await noteHours(deps, trx, org, await listHoursOf(trx, org, measured), false)
}

/** Notes the hours of conversations with measured sound. */
export const noteSettledHours = async (
  deps: NoteDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => noteHours(deps, trx, org, await listHoursOf(trx, org, conversationIds), false)

/** Notes the hours of conversations that received results. */
export const noteJudgedHours = async (
  deps: NoteDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => {
  if (conversationIds.length > 0) await noteHours(deps, trx, org, await listHoursOf(trx, org, conversationIds), true)
}
