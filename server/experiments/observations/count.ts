// Brings what is stored of an experiment up to what is stored of its conversations.

import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { unitOf } from '../assignment-unit.ts'
import { getExperiment, listOutcomes, type StoredExperiment, type StoredOutcome } from '../queries.ts'
import { endLaunchRun } from '../runs/end.ts'
import { listRunTimes } from '../runs/queries.ts'
import { readOutcome, storeOutcome } from './exact-sums.ts'
import { notApplicable, observed, pending } from './held.ts'
import { look } from './look.ts'
import { observationOf } from './observe.ts'
import { placeConversations } from './population.ts'
import {
  addToSplits,
  type Counted,
  deleteCounted,
  deleteUnits,
  type FoundResult,
  listCounted,
  listFirst,
  listPinnedResults,
  listPresent,
  listUnits,
  type Present,
  type StoredUnit,
  takeChanges,
  tryLock,
  updateLook,
  updateOutcomes,
  upsertCounted,
  upsertUnits,
} from './queries.ts'
import { changeUnits, openSplits, type Splits, storedUnit, type Turn } from './units.ts'

type CountDeps = Pick<Deps, 'db' | 'clock' | 'jobs' | 'config' | 'baseUrl'>

/** Changes that are counted in one transaction. */
const batchSize = 2_000

type Reading = {
  experiment: StoredExperiment
  outcomes: StoredOutcome[]
  /** While one of them lasted, results of what is counted land. */
  runs: Awaited<ReturnType<typeof listRunTimes>>
  isRetrying: boolean
  now: Date
}

/** The conversations as they are to be counted; null for what is not, or no longer. */
const readTurns = async (
  trx: Db,
  org: OrgId,
  { experiment, outcomes, runs, isRetrying, now }: Reading,
  changes: { conversationId: string; at: Date }[],
): Promise<Turn[]> => {
  const { finishedAt, assignmentUnit } = experiment
  const ids = [...new Set(changes.map(({ conversationId }) => conversationId))].sort()
  const counted = new Map((await listCounted(trx, org, experiment.id, ids)).map((one) => [one.conversationId, one]))
  const present = await listPresent(trx, org, ids, assignmentUnit)
  const places = await placeConversations(trx, org, { ...experiment, outcomes }, present)
  // After the end nothing new is counted, and nothing moves: what was noticed before it still comes.
  const inTime = new Set(
    changes.flatMap(({ conversationId, at }) => (finishedAt === null || at < finishedAt ? conversationId : [])),
  )
  const landed = new Set(
    changes.flatMap(({ conversationId, at }) => {
      // Nothing of it is noticed before its launch: what seems so comes from a process whose clock is behind.
      const hasBegun = ({ trigger, createdAt }: Reading['runs'][number]) => trigger === 'launch' || createdAt <= at
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
  // A result goes with its monitor alone; what it was stays.
  const kept = ({ conversationId }: Counted, position: number, result: unknown) => {
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
        : (kept(one, position, results?.[outcome.position]) ??
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

/** What should not differ between the arms, by conversation. Of other versions `a` counts. */
const countConversation = (splits: Splits, one: Counted | null, sign: 1 | -1) => {
  if (!one) return
  if (one.arm === null) return splits.add('other-version', one.otherVersionId ?? 'none', 'a', sign)
  const at = one.startedAt.toISOString()
  splits.add('day', at.slice(0, 10), one.arm, sign)
  splits.add('hour', at.slice(11, 13), one.arm, sign)
  splits.add('company', one.companyId ?? 'none', one.arm, sign)
  splits.add('direction', one.direction ?? 'none', one.arm, sign)
  if (one.isAlone) splits.add('alone', 'conversation', one.arm, sign)
}

const isSameRow = (one: Counted | null, other: Counted | null): boolean =>
  one === null || other === null ? one === other : JSON.stringify(one) === JSON.stringify(other)

/**
 * Counts changes of an experiment, in one transaction with the reading of what changed: what is told is always of some
 * moment, and whoever dies leaves it as it was. True while there may be more.
 */
export const countChanges = async (deps: CountDeps, org: OrgId, experimentId: string): Promise<boolean> =>
  deps.db.transaction().execute(async (trx) => {
    if (!(await tryLock(trx, org, experimentId))) return false
    const changes = await takeChanges(trx, org, experimentId, batchSize)
    if (changes.length === 0) return false
    const now = deps.clock.now()
    const experiment = await getExperiment(trx, org, experimentId)
    const outcomes = await listOutcomes(trx, org, experimentId)
    const runs = await listRunTimes(trx, org, experimentId)
    const reading: Reading = {
      ...{ experiment, outcomes, runs, now },
      isRetrying: runs.some(({ trigger, finishedAt }) => trigger === 'retry' && finishedAt === null),
    }
    const turns = (await readTurns(trx, org, reading, changes)).filter(({ before, after }) => !isSameRow(before, after))

    const splits = openSplits()
    for (const { before, after } of turns) {
      countConversation(splits, before, -1)
      countConversation(splits, after, 1)
    }
    const unitIds = [
      ...new Set(turns.flatMap(({ before, after }) => [before, after]).flatMap((one) => (one?.arm ? one.unitId : []))),
    ].sort()
    const stored = await listUnits(trx, org, experimentId, unitIds)
    const sums = outcomes.map(({ sums: ofOutcome }) => readOutcome(ofOutcome))
    const changed = changeUnits(stored, sums, turns, splits)

    await deleteCounted(
      trx,
      org,
      experimentId,
      turns.flatMap(({ before, after }) => (before && !after ? before.conversationId : [])),
    )
    const is = turns.flatMap(({ after }) => after ?? [])
    const rows = is.map((one) => ({ ...one, isPending: one.statuses.includes(pending) }))
    await upsertCounted(trx, org, experimentId, rows)
    const left = [...changed.units].filter(([, { conversations }]) => conversations.a + conversations.b > 0)
    const unknown = left.flatMap(([id, { first }]) => (first ? [] : id))
    const looked = new Map((await listFirst(trx, org, experimentId, unknown)).map((one) => [one.id, one]))
    const kept = left.flatMap(([id, unit]) => {
      const first = unit.first ?? looked.get(id)
      return first ? storedUnit(id, unit, first) : []
    })
    const countDay = ({ firstAt, firstArm }: StoredUnit, sign: 1 | -1) =>
      splits.add('unit-day', firstAt.toISOString().slice(0, 10), firstArm, sign)
    for (const unit of stored) countDay(unit, -1)
    for (const unit of kept) countDay(unit, 1)
    await upsertUnits(trx, org, experimentId, kept)
    const keptIds = new Set(kept.map(({ id }) => id))
    await deleteUnits(
      trx,
      org,
      experimentId,
      unitIds.filter((id) => !keptIds.has(id)),
    )
    await addToSplits(trx, org, experimentId, splits.changes())

    const seen = await look(deps, trx, org, { experiment, outcomes, sums: changed.sums, changed: changed.changed, now })
    await updateOutcomes(
      trx,
      org,
      experimentId,
      seen.outcomes.map(({ sums: ofOutcome, ...outcome }) => ({ ...outcome, sums: storeOutcome(ofOutcome) })),
    )
    await updateLook(trx, org, experimentId, { ...seen.experiment, countedAt: now })
    await endLaunchRun(trx, org, experiment, now)
    return changes.length === batchSize
  })
