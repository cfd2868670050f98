// Removes examples that were learned from deleted reviews, and guidelines that were distilled from the notes in those
// reviews.

import { isDeepStrictEqual } from 'node:util'
import { withoutLearned } from '../monitors/learned.ts'
import {
  insertMonitorVersion,
  listVersionsWithLearned,
  lockVersions,
  replaceDefinition,
  updateMonitor,
} from '../monitors/queries.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { listLearned, lockProposalsWithLearned, removeProposals, updateProposal } from './queries.ts'

const note = 'Removed content that was learned from a deleted review.'

type Forgotten = Parameters<typeof withoutLearned>[1]

/**
 * Removes the learned content from all versions of a monitor. If the current version contained learned content, a new
 * version replaces it, because its results will differ.
 */
const forgetInMonitor = async (trx: Db, org: OrgId, monitorId: string, forgotten: Forgotten): Promise<void> => {
  const current = await lockVersions(trx, org, monitorId)
  if (current === undefined) return
  for (const { number, definition } of await listVersionsWithLearned(trx, org, monitorId)) {
    const left = withoutLearned(definition, forgotten)
    if (isDeepStrictEqual(left, definition)) continue
    await replaceDefinition(trx, org, monitorId, { number, definition: left, note })
    if (number !== current) continue
    await insertMonitorVersion(trx, org, monitorId, number + 1, left, note)
    await updateMonitor(trx, org, monitorId, { currentVersion: number + 1 })
  }
}

/**
 * Removes the learned content from all proposals for a monitor, because proposals repeat the content that the
 * definition had learned before. The caller has locked the monitor, so no other transaction can store a proposal with
 * this content. Returns the alignments that changed.
 */
const forgetInProposals = async (trx: Db, org: OrgId, monitorId: string, forgotten: Forgotten): Promise<string[]> => {
  const changed: string[] = []
  for (const { alignmentId, kind, definition } of await lockProposalsWithLearned(trx, org, monitorId)) {
    const left = withoutLearned(definition, forgotten)
    if (isDeepStrictEqual(left, definition)) continue
    await updateProposal(trx, org, { alignmentId, kind }, { definition: left })
    changed.push(alignmentId)
  }
  return changed
}

/** Removes the content that was learned from reviews of conversations that are being erased. */
export const forgetLearned = async (
  _deps: Pick<Deps, 'db'>,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => {
  const learned = await listLearned(trx, org, conversationIds)
  if (learned.length === 0) return
  const byMonitor = Map.groupBy(learned, ({ monitorId }) => monitorId)
  const alignmentIds = new Set(learned.map((one) => one.alignmentId))
  for (const [monitorId, proposals] of byMonitor) {
    const distilled = proposals.filter(({ kind }) => kind === 'guidelines')
    const forgotten = {
      conversationIds: new Set(conversationIds),
      alignmentIds: new Set(distilled.map(({ alignmentId }) => alignmentId)),
    }
    await forgetInMonitor(trx, org, monitorId, forgotten)
    for (const id of await forgetInProposals(trx, org, monitorId, forgotten)) alignmentIds.add(id)
  }
  await removeProposals(trx, org, learned)
  await publishChanges(
    trx,
    org,
    { resource: 'monitors', kind: 'updated', ids: [...byMonitor.keys()] },
    { resource: 'alignments', kind: 'updated', ids: [...alignmentIds] },
  )
}
