// Computes scorecards after results for their items were stored.

import Type from 'typebox'
import { hasScorecards, hasScorecardsOf, listActiveScorecards } from '../../monitors/queries.ts'
import { batchesOf } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { pauseSecondsAfter } from '../compare-later.ts'
import type { EvaluationDeps } from '../deps.ts'
import { findMonitorsInScope, resolveScopesIfAvailable } from '../monitors-in-scope.ts'
import { storeFailures } from '../store-failures.ts'
import { computeScorecards, type Scoring } from './compute.ts'
import { lockScorable, type Scorable } from './queries.ts'

/** The number of conversations in a job. */
const batchSize = 250

type EnqueueDeps = Pick<EvaluationDeps, 'jobs'>

/** Queues the scorecards of conversations. */
const enqueueScoring = async ({ jobs }: EnqueueDeps, trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  const payloads = batchesOf(ids, batchSize).map((conversationIds) => ({ organizationId: org, conversationIds }))
  await jobs.enqueueMany(trx, scoreConversations, payloads)
}

/**
 * Queues the scorecards of conversations with new item results, in the transaction that stores the results. Results of
 * scorecards themselves don't queue anything, because no scorecard is an item.
 */
export const scoreResults = async (
  deps: EnqueueDeps,
  trx: Db,
  org: OrgId,
  { conversationIds, monitorIds }: { conversationIds: string[]; monitorIds: string[] },
): Promise<void> => {
  if (conversationIds.length === 0 || !(await hasScorecardsOf(trx, org, monitorIds))) return
  await enqueueScoring(deps, trx, org, conversationIds)
}

/**
 * Queues the scorecards of conversations that were completed or changed, in the transaction that stores them. Their
 * items may already have results, and the conversations may have joined the arm of an experiment.
 */
export const scoreStored = async (
  deps: EnqueueDeps,
  trx: Db,
  org: OrgId,
  { toEvaluate, changedOtherwise }: { toEvaluate: string[]; changedOtherwise: string[] },
): Promise<void> => {
  const ids = [...toEvaluate, ...changedOtherwise]
  if (ids.length > 0 && (await hasScorecards(trx, org))) await enqueueScoring(deps, trx, org, ids)
}

/** Returns the current scorecards that apply to conversations, and the versions that experiments have pinned. */
const findScorings = async (
  deps: Pick<EvaluationDeps, 'findPinned'>,
  trx: Db,
  org: OrgId,
  conversations: Scorable[],
  scopes: NonNullable<Awaited<ReturnType<typeof resolveScopesIfAvailable>>>,
): Promise<Scoring[]> => {
  const active = await listActiveScorecards(trx, org)
  const isInScope = await findMonitorsInScope(trx, org, conversations, active, scopes)
  const pinned = await deps.findPinned(
    trx,
    org,
    conversations.map(({ id }) => id),
  )
  const others = pinned.monitors.filter(({ kind }) => kind === 'scorecard')
  return conversations.flatMap((conversation) =>
    [
      // An experiment may have pinned the current version.
      ...active.filter((monitor) => isInScope(conversation, monitor) && !pinned.asks(conversation.id, monitor)),
      ...others.filter((monitor) => pinned.asks(conversation.id, monitor)),
    ].map((monitor) => ({ conversation, monitor })),
  )
}

/**
 * Computes the scorecards of conversations. The job is queued in each transaction that stores item results, so two
 * transactions that don't see each other queue two jobs. The lock makes the jobs run one after the other, and the last
 * one sees all results.
 */
export const scoreConversations = defineJob({
  name: 'conversation.score',
  payload: Type.Object({
    organizationId: OrganizationId,
    conversationIds: Type.Array(Type.String(), { maxItems: batchSize }),
    /** Meanings could not be compared. `round` is the number of attempts. */
    postponed: Type.Optional(Type.Object({ round: Type.Integer() })),
  }),
  concurrency: 4,
  run: async (deps: EvaluationDeps, { organizationId: org, conversationIds, postponed }, attempt) => {
    // Comparing meanings can call a model, so it happens before the lock.
    const active = await listActiveScorecards(deps.database.dbOf(org), org)
    const scopes = await resolveScopesIfAvailable(deps, org, conversationIds, active)
    await attempt.finish(async (trx) => {
      const conversations = await lockScorable(trx, org, conversationIds)
      const scorings = await findScorings(deps, trx, org, conversations, scopes ?? [])
      await computeScorecards(deps, trx, org, { scorings, skipsEmpty: true })
      const round = (postponed?.round ?? 0) + 1
      const afterSeconds = pauseSecondsAfter(round)
      if (scopes || afterSeconds === undefined) return
      const payload = { organizationId: org, conversationIds, postponed: { round } }
      await deps.jobs.enqueue(trx, scoreConversations, payload, { afterSeconds })
    })
  },
  onFailed: async (deps, { organizationId: org, conversationIds }, trx) => {
    const [only, ...others] = conversationIds
    if (only === undefined) return
    if (others.length === 0) {
      const scorings = await findScorings(deps, trx, org, await lockScorable(trx, org, [only]), [])
      // An experiment may have pinned another version of the same scorecard.
      for (const { monitor } of scorings)
        await storeFailures(deps, trx, org, { monitors: [monitor], conversationId: only })
      return
    }
    // One of the conversations may be the cause, so each is computed separately.
    await deps.jobs.enqueueMany(
      trx,
      scoreConversations,
      conversationIds.map((id) => ({ organizationId: org, conversationIds: [id] })),
    )
  },
})
