// Updates an experiment's counts from its stored conversations.

import { publishChanges } from '../../platform/changes/changes.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { getExperiment, listOutcomes } from '../queries.ts'
import { endLaunchRun } from '../runs/lifecycle.ts'
import { listRunTimes } from '../runs/queries.ts'
import { readOutcome, storeOutcome } from './exact-sums.ts'
import { analyzeInterim } from './interim-analysis.ts'
import {
  addToSplits,
  type Counted,
  deleteCounted,
  deleteUnits,
  listFirst,
  listUnits,
  type StoredUnit,
  takeChanges,
  tryLock,
  updateInterimAnalysis,
  updateOutcomes,
  upsertCounted,
  upsertUnits,
} from './queries.ts'
import { type ExperimentReading, readTurns } from './read-turns.ts'
import { pending } from './unit-totals.ts'
import { changeUnits, openSplits, type Splits, storedUnit } from './units.ts'

type CountDeps = Pick<Deps, 'db' | 'clock' | 'jobs' | 'config' | 'baseUrl' | 'reactions'>

/** The number of changes in a transaction. */
const batchSize = 2_000

/**
 * Counts a conversation under each property that should not differ between the arms. Conversations of other versions
 * count as `a`.
 */
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
 * Applies changes to an experiment. One transaction both reads and applies them, so that results always match one point
 * in time and a crash changes nothing. Returns whether there may be more changes.
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
    const reading: ExperimentReading = {
      experiment,
      outcomes,
      runs,
      now,
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
    const remaining = left.flatMap(([id, unit]) => {
      const first = unit.first ?? looked.get(id)
      return first ? storedUnit(id, unit, first) : []
    })
    const countDay = ({ firstAt, firstArm }: StoredUnit, sign: 1 | -1) =>
      splits.add('unit-day', firstAt.toISOString().slice(0, 10), firstArm, sign)
    for (const unit of stored) countDay(unit, -1)
    for (const unit of remaining) countDay(unit, 1)
    await upsertUnits(trx, org, experimentId, remaining)
    const keptIds = new Set(remaining.map(({ id }) => id))
    await deleteUnits(
      trx,
      org,
      experimentId,
      unitIds.filter((id) => !keptIds.has(id)),
    )
    await addToSplits(trx, org, experimentId, splits.changes())

    const seen = await analyzeInterim(deps, trx, org, {
      experiment,
      outcomes,
      sums: changed.sums,
      changed: changed.changed,
      now,
    })
    await updateOutcomes(
      trx,
      org,
      experimentId,
      seen.outcomes.map(({ sums: ofOutcome, ...outcome }) => ({ ...outcome, sums: storeOutcome(ofOutcome) })),
    )
    await updateInterimAnalysis(trx, org, experimentId, { ...seen.experiment, countedAt: now })
    await endLaunchRun(trx, org, experiment, now)
    await publishChanges(trx, org, { resource: 'experiments', kind: 'updated', ids: [experimentId] })
    return changes.length === batchSize
  })
