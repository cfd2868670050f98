import { tombstoneHash } from '../../conversations/erasure/tombstone.ts'
import { findTombstones } from '../../conversations/ingest/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { listStoredCalls } from '../calls/queries.ts'
import { holdsUnsoundText } from '../payload.ts'
import { findGaps } from './gaps/queries.ts'
import { graceMs, longestCallMs } from './limits.ts'
import type { Listed } from './providers.ts'

const longestId = 255

/** Returns the stored calls from a provider. `complete` calls are finished and have a transcript. */
export const findKnown = async (trx: Db, org: OrgId, integrationId: string, externalIds: string[]) => {
  const hashes = new Map(externalIds.map((externalId) => [tombstoneHash(org, externalId), externalId]))
  const stored = (await listStoredCalls(trx, org, externalIds)).filter(({ status }) => status !== 'in_progress')
  const found = await findTombstones(trx, org, [...hashes.keys()])
  const gaps = await findGaps(trx, org, integrationId, externalIds)
  return {
    stored: new Set(stored.map(({ externalId }) => externalId)),
    complete: new Set(
      stored.filter((call) => call.hasTranscript || call.status === 'failed').map(({ externalId }) => externalId),
    ),
    erased: new Set(found.map(({ hash }) => hashes.get(hash))),
    gaps: new Map(gaps.map((gap) => [gap.externalId, gap])),
  }
}

type KnownCalls = Awaited<ReturnType<typeof findKnown>>

/** Returns each call once. Omits calls with an ID that can't be stored. */
export const namedCalls = (calls: Listed[]): Listed[] => {
  const sound = calls.filter(({ externalId }) => externalId.length <= longestId && !holdsUnsoundText(externalId))
  return [...new Map(sound.map((call) => [call.externalId, call])).values()]
}

const isJustOver = ({ endedAt }: Listed, now: Date) => endedAt !== null && endedAt.getTime() > now.getTime() - graceMs

/** Returns whether the call may still be in progress. */
export const mayGoOn = (beganAt: Date | null, now: Date): boolean =>
  beganAt === null || beganAt.getTime() > now.getTime() - longestCallMs

const isNewerThan = (listedUntil: Date, { beganAt }: Listed): boolean => beganAt === null || beganAt >= listedUntil

const mayBeUnfinished = (call: Listed, now: Date): boolean =>
  isJustOver(call, now) || (!call.isOver && mayGoOn(call.beganAt, now))

/** Returns whether a call is stored or erased. A new call only counts as stored when it is complete. */
const fateOf = ({ externalId }: Listed, known: KnownCalls, isNew: boolean): 'stored' | 'erased' | undefined => {
  if ((isNew ? known.complete : known.stored).has(externalId)) return 'stored'
  return known.erased.has(externalId) ? 'erased' : undefined
}

/**
 * Decides what to do with each call on a page. Calls from before `listedUntil` were listed earlier, so they only matter
 * if they are missing.
 */
export const sortOut = (calls: Listed[], known: KnownCalls, { listedUntil, now }: { listedUntil: Date; now: Date }) => {
  const missing: Listed[] = []
  const unfinished: Listed[] = []
  const count = { listed: 0, stored: 0, erased: 0, unfinished: 0 }
  for (const call of calls) {
    const isNew = isNewerThan(listedUntil, call)
    const fate = fateOf(call, known, isNew)
    if (known.gaps.has(call.externalId) || (fate && !isNew)) continue
    count.listed += 1
    if (fate) count[fate] += 1
    else if (mayBeUnfinished(call, now)) {
      unfinished.push(call)
      count.unfinished += 1
    } else missing.push(call)
  }
  return { missing, unfinished, count }
}
