// Returns the current state of the changed conversations, together with the state in which they were counted before.

import type { Db, OrgId } from '../../platform/db/database.ts'
import { unitOf } from '../assignment-unit.ts'
import type { StoredExperiment, StoredOutcome } from '../queries.ts'
import type { listRunTimes } from '../runs/queries.ts'
import { assignToArms } from './assign-to-arms.ts'
import { observationOf } from './observation.ts'
import { type Counted, type FoundResult, listCounted, listPinnedResults, listPresent, type Present } from './queries.ts'
import { notApplicable, observed } from './unit-totals.ts'
import type { CountedChange } from './units.ts'

export type ExperimentReading = {
  experiment: StoredExperiment
  outcomes: StoredOutcome[]
  /** The times of the experiment's runs. As long as a run continues, results of counted conversations still count. */
  runs: Awaited<ReturnType<typeof listRunTimes>>
  isRetrying: boolean
  now: Date
}

/**
 * Returns each conversation as it was counted before and as it should be counted now. A state is null if the
 * conversation does not count.
 */
export const readTurns = async (
  trx: Db,
  org: OrgId,
  { experiment, outcomes, runs, isRetrying, now }: ExperimentReading,
  changes: { conversationId: string; at: Date }[],
): Promise<CountedChange[]> => {
  const { finishedAt, assignmentUnit } = experiment
  const ids = [...new Set(changes.map(({ conversationId }) => conversationId))].sort()
  const counted = new Map((await listCounted(trx, org, experiment.id, ids)).map((one) => [one.conversationId, one]))
  const present = await listPresent(trx, org, ids, assignmentUnit)
  const places = await assignToArms(trx, org, { ...experiment, outcomes }, present)
  // After the experiment ends, no new conversations are counted and no conversation moves to another arm. Changes from
  // before the end are still applied.
  const inTime = new Set(
    changes.flatMap(({ conversationId, at }) => (finishedAt === null || at < finishedAt ? conversationId : [])),
  )
  const landed = new Set(
    changes.flatMap(({ conversationId, at }) => {
      // No change precedes the launch. If one seems to, it was made by a process with a slow clock.
      const hasBegun = ({ trigger, createdAt }: ExperimentReading['runs'][number]) =>
        trigger === 'launch' || createdAt <= at
      const isOpen = runs.some((run) => hasBegun(run) && (run.finishedAt === null || at <= run.finishedAt))
      return isOpen ? conversationId : []
    }),
  )
  const mayCome = (id: string) => finishedAt === null || (inTime.has(id) && !counted.has(id))

  const placed = (one: Present): Counted | null => {
    const was = counted.get(one.id)
    if (!mayCome(one.id)) return was ?? null
    const place = places.get(one.id)
    if (!place) return null
    return {
      conversationId: one.id,
      arm: place.arm,
      otherVersionId: place.arm === null ? one.agentVersionId : null,
      ...unitOf(assignmentUnit, one),
      startedAt: one.startedAt,
      companyId: one.companyId,
      direction: one.direction,
      addedAt: was?.addedAt ?? now,
      retriedAt: was?.retriedAt ?? null,
      statuses: place.arm === null ? [] : place.applies.map(Number),
      observed: [],
    }
  }
  const next = new Map(present.map((one) => [one.id, placed(one)]))
  const measured = [...next.values()].filter((one): one is Counted => one !== null && one.arm !== null)
  const found = new Map<string, FoundResult[]>(measured.map(({ conversationId }) => [conversationId, []]))
  const conversations = measured.map(({ conversationId: id, startedAt }) => ({ id, startedAt }))
  for (const result of await listPinnedResults(trx, org, { conversations, pinned: outcomes })) {
    const ofConversation = found.get(result.conversationId)
    if (ofConversation) ofConversation[result.position] = result
  }
  // A result is only deleted with its monitor, and its value still counts after that.
  const keptObservation = ({ conversationId }: Counted, position: number, result: unknown) => {
    const was = counted.get(conversationId)
    return result === undefined && was?.statuses[position] === observed
      ? { status: observed, value: was.observed[position] ?? 0 }
      : undefined
  }
  const observe = (one: Counted): Counted => {
    if (one.arm === null || !landed.has(one.conversationId)) return one
    const asked = { addedAt: one.addedAt, retriedAt: one.retriedAt, now, isRetrying }
    const results = found.get(one.conversationId)
    const observations = outcomes.map((outcome, position) =>
      one.statuses[position] === notApplicable
        ? { status: notApplicable, value: 0 }
        : (keptObservation(one, position, results?.[outcome.position]) ??
          observationOf(outcome, results?.[outcome.position], asked)),
    )
    return {
      ...one,
      statuses: observations.map(({ status }) => status),
      observed: observations.map(({ value }) => value),
    }
  }
  return ids.map((id) => {
    const is = next.get(id)
    return { before: counted.get(id) ?? null, after: is ? observe(is) : null }
  })
}
