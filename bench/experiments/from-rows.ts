// Computes an experiment's results from all of its rows. Reads them page by page in the order of units, with one unit
// in memory.

import { sql } from 'kysely'
import { healthOf } from '../../server/experiments/health.ts'
import { designOf } from '../../server/experiments/observations/interim-analysis.ts'
import { listSplits } from '../../server/experiments/observations/queries.ts'
import { getExperiment, listOutcomes, type StoredOutcome } from '../../server/experiments/queries.ts'
import { estimateArms } from '../../server/statistics/arm.ts'
import { correctSecondaries } from '../../server/statistics/families.ts'
import { differenceOf, outcomeResult } from '../../server/statistics/outcome.ts'
import {
  addOutcomeUnit,
  noOutcomeSums,
  nothingInOutcome,
  type OutcomeSums,
  type OutcomeTotals,
} from '../../server/statistics/outcome-sums.ts'
import { type Arm, addValue } from '../../server/statistics/sums.ts'
import type { Stored } from './stored.ts'

const pageSize = 10_000

type Row = {
  conversationId: string
  unitId: string
  arm: Arm
  startedAt: Date
  statuses: number[]
  observed: number[]
}

const first = '00000000-0000-0000-0000-000000000000'

async function* rowsByUnit({ deps: { db }, org, experimentId }: Stored): AsyncGenerator<Row[]> {
  let last = { unitId: first, startedAt: new Date(0), conversationId: first }
  for (;;) {
    const { rows } = await sql<Row>`
      SELECT conversation_id AS "conversationId", unit_id AS "unitId", arm, started_at AS "startedAt", statuses, observed
      FROM experiment_conversations
      WHERE organization_id = ${org} AND experiment_id = ${experimentId} AND arm IS NOT NULL
        AND (unit_id, started_at, conversation_id) > (${last.unitId}, ${last.startedAt}, ${last.conversationId})
      ORDER BY unit_id, started_at, conversation_id LIMIT ${pageSize}`.execute(db)
    yield rows
    const end = rows.at(-1)
    if (!end || rows.length < pageSize) return
    last = end
  }
}

const [observed, pending, missing, failed] = [1, 2, 3, 4]

const hold = (held: OutcomeTotals, status: number | undefined, value: number, shift: number): OutcomeTotals => {
  if (status === observed) return { ...held, observed: addValue(held.observed, value - shift) }
  if (status === pending) return { ...held, pending: held.pending + 1 }
  if (status === missing) return { ...held, missing: held.missing + 1 }
  return status === failed ? { ...held, failed: held.failed + 1 } : held
}

/** Keeps the sums of one outcome. The first value of each arm is its shift. */
const openSums = ({ kind }: StoredOutcome, position: number) => {
  const shifts: Record<Arm, number | undefined> = kind === 'boolean' ? { a: 0, b: 0 } : { a: undefined, b: undefined }
  let sums: OutcomeSums = noOutcomeSums()
  return {
    add: (rows: Row[], inBothArms: boolean) => {
      const held: Record<Arm, OutcomeTotals> = { a: nothingInOutcome, b: nothingInOutcome }
      for (const { arm, statuses, observed: values } of rows) {
        const value = values[position] ?? 0
        if (statuses[position] === observed && shifts[arm] === undefined) {
          shifts[arm] = value
          const [a, b] = [shifts.a ?? 0, shifts.b ?? 0]
          sums = { ...sums, observed: shifted(sums.observed, a, b), inOneArm: shifted(sums.inOneArm, a, b) }
        }
        held[arm] = hold(held[arm], statuses[position], value, shifts[arm] ?? 0)
      }
      sums = addOutcomeUnit(sums, { ...held, inBothArms })
    },
    sums: () => sums,
  }
}

/** Returns sums with these shifts. The arms must not have values yet. */
const shifted = (sums: OutcomeSums['observed'], a: number, b: number): OutcomeSums['observed'] => ({
  ...sums,
  a: { ...sums.a, shift: a },
  b: { ...sums.b, shift: b },
})

export const answerFromRows = async (stored: Stored) => {
  const { deps, org, experimentId } = stored
  const experiment = await getExperiment(deps.db, org, experimentId)
  const outcomes = await listOutcomes(deps.db, org, experimentId)
  const open = outcomes.map(openSums)
  const conversations = { a: 0, b: 0 }
  const units = { a: 0, b: 0 }
  let inBothArms = 0
  const addUnit = (rows: Row[]) => {
    const [begin] = rows
    if (!begin) return
    const isInBoth = rows.some(({ arm }) => arm !== begin.arm)
    units[begin.arm] += 1
    if (isInBoth) inBothArms += 1
    for (const { arm } of rows) conversations[arm] += 1
    for (const one of open) one.add(rows, isInBoth)
  }
  let unit: Row[] = []
  for await (const rows of rowsByUnit(stored)) {
    for (const row of rows) {
      if (unit[0] && unit[0].unitId !== row.unitId) {
        addUnit(unit)
        unit = []
      }
      unit.push(row)
    }
  }
  addUnit(unit)

  // The rate of conversations depends on the time of the compared result.
  const { perDay } = healthOf(experiment, await listSplits(deps.db, org, experimentId), deps.clock.now()).conversations
  const results = outcomes.map((outcome, at) => {
    const design = designOf(experiment, outcome)
    const sums = open[at]?.sums() ?? noOutcomeSums()
    const result = outcomeResult(sums, design, { target: null, conversationsPerDay: perDay })
    return { outcome, design, result, arms: estimateArms(sums.observed, outcome.kind) }
  })
  const secondaries = results.filter(({ outcome }) => !outcome.isPrimary)
  const { size, corrected } = correctSecondaries(
    secondaries.map(({ result: { difference } }) => ({
      eValue: difference.anytime.reason === null ? difference.anytime.eValue : null,
      p: difference.anytime.reason === null ? difference.anytime.p : null,
      fixedP: difference.fixed.reason === null ? difference.fixed.p : null,
    })),
  )
  return {
    outcomes: results.map(({ outcome, design, result, arms }) => {
      const at = secondaries.findIndex((one) => one.outcome === outcome)
      if (at < 0) return { ...result, correction: null }
      const simultaneous = differenceOf(arms, design, design.alpha / size)
      return { ...result, correction: { familySize: size, ...corrected[at], simultaneous } }
    }),
    health: {
      conversations,
      sampleRatio: { units },
      routing: { units: units.a + units.b, inBothArms },
    },
  }
}

/** Lists where two results differ by more than 1e-9. Compares everything in the second one. */
export const differences = (found: unknown, wanted: unknown, path = 'answer'): string[] => {
  if (typeof wanted === 'number' && typeof found === 'number') {
    const near = Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted))
    return near ? [] : [`${path}: ${found}, from rows ${wanted}`]
  }
  if (typeof wanted === 'object' && wanted !== null && typeof found === 'object' && found !== null) {
    return Object.entries(wanted).flatMap(([key, value]) => {
      // These days are counted from the current time.
      if (key === 'moreDays') return []
      return differences((found as Record<string, unknown>)[key], value, `${path}.${key}`)
    })
  }
  return found === wanted ? [] : [`${path}: ${found}, from rows ${wanted}`]
}
