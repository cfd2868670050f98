// Computes scorecard results from the stored results of the items.

import { notApplicable } from '../../filters/category.ts'
import { noResult } from '../../monitor-results/no-result.ts'
import { type ResultRow, upsertResults } from '../../monitor-results/queries.ts'
import { announceResults } from '../../monitor-results/store-results.ts'
import { scorecardOf } from '../../monitors/definition.ts'
import type { StoredMonitor } from '../../monitors/queries.ts'
import {
  type ItemFound,
  type Scorecard,
  type ScorecardItem,
  type Total,
  totalOf,
} from '../../monitors/scorecards/algebra.ts'
import { itemsOf } from '../../monitors/scorecards/definition.ts'
import { batchesOfSize } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { findItemNames, type ItemResult, listItemResults, type Scorable } from './queries.ts'

const evaluator = 'scorecard'

/** A scorecard to compute for a conversation. */
export type Scoring = { conversation: Scorable; monitor: StoredMonitor }

/** Definitions were completed for their kind when they were stored. */
const definitionOf = (monitor: StoredMonitor): Scorecard => scorecardOf(monitor) as Scorecard

const keyOf = (conversationId: string, monitorId: string) => `${conversationId} ${monitorId}`

const findIn = (results: ItemResult[], { version }: ScorecardItem): ItemFound => {
  // The newest version is the first one.
  const found = results.find((result) => version === undefined || result.version === version)
  return found ?? { outcome: 'missing', version: version ?? null }
}

type NameOf = (monitorId: string) => string

const mostNamed = 20

const listed = (ids: string[], nameOf: NameOf): string => {
  const names = ids.slice(0, mostNamed).map((id) => `“${nameOf(id)}”`)
  return ids.length > mostNamed ? `${names.join(', ')}, and ${ids.length - mostNamed} more` : names.join(', ')
}

/** Lists the items that lowered the score or left it open. Returns null if every item passed. */
const reasoningOf = ({ breakdown, score, isNotApplicable }: Total, nameOf: NameOf): string | null => {
  const items = breakdown.sections.flatMap((section) => section.items)
  const idsOf = (outcome: string) => items.flatMap((item) => (item.outcome === outcome ? item.monitorId : []))
  if (isNotApplicable) return 'No item applies to the conversation.'
  if (breakdown.autoFailed.length > 0) return `Failed because of ${listed(breakdown.autoFailed, nameOf)}.`
  const [affected, unscored, missing] = [idsOf('affected'), idsOf('unscored'), idsOf('missing')]
  if (score !== null) return affected.length > 0 ? `Affected: ${listed(affected, nameOf)}.` : null
  return [
    ...(missing.length > 0 ? [`No result: ${listed(missing, nameOf)}.`] : []),
    ...(unscored.length > 0 ? [`Unscored: ${listed(unscored, nameOf)}.`] : []),
  ].join(' ')
}

const rowOf = ({ conversation, monitor }: Scoring, total: Total, nameOf: NameOf): ResultRow => {
  const { score, isAffected, isNotApplicable, breakdown } = total
  return {
    ...noResult,
    conversationId: conversation.id,
    monitorId: monitor.id,
    monitorVersion: monitor.number,
    status: score === null ? 'unscored' : 'scored',
    result: isAffected === null ? null : isAffected ? 'affected' : 'not_affected',
    score,
    categories: isNotApplicable ? [notApplicable] : null,
    reasoning: reasoningOf(total, nameOf),
    evaluatedAt: null,
    evaluator,
    breakdown,
  }
}

const itemsIn = (monitor: StoredMonitor): ScorecardItem[] => itemsOf(definitionOf(monitor)).map(({ item }) => item)

/** The approximate number of items in memory at once. A small scorecard counts as more items than it has. */
const mostItems = 20_000
const leastItems = 10

/** Splits scorings into slices. The results of each slice are read and stored together. */
export const slicesOf = (scorings: Scoring[]): Scoring[][] =>
  batchesOfSize(scorings, mostItems, ({ monitor }) => {
    const items = definitionOf(monitor).sections.reduce((count, section) => count + section.items.length, 0)
    return Math.max(leastItems, items)
  })

const findOutcomes = async (trx: Db, org: OrgId, slice: Scoring[]) => {
  const conversations = [...new Map(slice.map(({ conversation }) => [conversation.id, conversation])).values()]
  const items = [...new Set(slice.map(({ monitor }) => monitor))].flatMap(itemsIn)
  const followedIds = items.flatMap(({ monitorId, version }) => (version === undefined ? monitorId : []))
  const pins = items.flatMap(({ monitorId, version }) => (version === undefined ? [] : { monitorId, version }))
  const found = await listItemResults(trx, org, conversations, {
    followedIds: [...new Set(followedIds)],
    pins: [...new Map(pins.map((pin) => [`${pin.monitorId} ${pin.version}`, pin])).values()],
  })
  const results = Map.groupBy(found, ({ conversationId, monitorId }) => keyOf(conversationId, monitorId))
  return ({ conversation }: Scoring, item: ScorecardItem): ItemFound =>
    findIn(results.get(keyOf(conversation.id, item.monitorId)) ?? [], item)
}

type Computation = { scorings: Scoring[]; skipsEmpty: boolean }

const rowsOf = async (trx: Db, org: OrgId, { scorings: slice, skipsEmpty }: Computation, nameOf: NameOf) => {
  const find = await findOutcomes(trx, org, slice)
  return slice.flatMap((scoring) => {
    const total = totalOf(definitionOf(scoring.monitor), (item) => find(scoring, item))
    const isEmpty = total.breakdown.sections.every((section) =>
      section.items.every(({ outcome }) => outcome === 'missing'),
    )
    return isEmpty && skipsEmpty ? [] : [rowOf(scoring, total, nameOf)]
  })
}

type ComputeDeps = Pick<Deps, 'clock' | 'reactions'>

/**
 * Computes scorecards and stores those that changed. The caller has locked the conversations, so that the last of
 * several transactions sees all results. `skipsEmpty` skips scorecards without any item results.
 */
export const computeScorecards = async (
  { clock, reactions }: ComputeDeps,
  trx: Db,
  org: OrgId,
  { scorings, skipsEmpty }: Computation,
): Promise<void> => {
  if (scorings.length === 0) return
  const scorecards = [...new Set(scorings.map(({ monitor }) => monitor))]
  const itemIds = scorecards.flatMap(itemsIn).map(({ monitorId }) => monitorId)
  const names = await findItemNames(trx, org, [...new Set(itemIds)])
  const nameOf = (id: string) => names.get(id) ?? id
  const now = clock.now()
  const changed: { conversationId: string; monitorId: string }[] = []
  for (const slice of slicesOf(scorings)) {
    const rows = await rowsOf(trx, org, { scorings: slice, skipsEmpty }, nameOf)
    const outcomes = await upsertResults(trx, org, rows, now)
    for (const [at, { conversationId, monitorId }] of rows.entries()) {
      if (outcomes[at] === 'created' || outcomes[at] === 'updated') changed.push({ conversationId, monitorId })
    }
  }
  if (changed.length > 0) await announceResults({ reactions }, trx, org, changed)
}
