// Decides which conversations belong to an experiment, and which outcomes apply to them.

import { isDeepStrictEqual } from 'node:util'
import { listSelectedAmong } from '../../evaluations/queries.ts'
import type { Plain } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Arm } from '../../statistics/sums.ts'
import { type CohortFilter, parseCohort } from '../cohort.ts'

/** The properties of an experiment that decide which conversations belong to it. */
export type Measuring = {
  agentId: string
  armAVersionId: string
  armBVersionId: string
  startedAt: Date
  cohortFilters: CohortFilter[]
  outcomes: { scope: Plain }[]
}

type Candidate = {
  id: string
  agentId: string
  agentVersionId: string | null
  status: string
  startedAt: Date
  companyId: string | null
}

export type ArmPlacement = {
  /** Null if the version is in neither arm. */
  arm: Arm | null
  /** Whether each outcome applies, by the outcome's position. */
  applies: boolean[]
}

const armOf = ({ armAVersionId, armBVersionId }: Measuring, { agentVersionId }: Candidate): Arm | null =>
  agentVersionId === armAVersionId ? 'a' : agentVersionId === armBVersionId ? 'b' : null

/**
 * Returns the conversations that belong to the experiment: completed ones of the agent that started after the launch
 * and are in the cohort.
 */
export const assignToArms = async (
  db: Db,
  org: OrgId,
  experiment: Measuring,
  candidates: Candidate[],
): Promise<Map<string, ArmPlacement>> => {
  const { agentId, startedAt, cohortFilters, outcomes } = experiment
  const inTime = candidates.filter(
    (one) => one.agentId === agentId && one.status === 'completed' && one.startedAt >= startedAt,
  )
  if (inTime.length === 0) return new Map()
  const { takes, leaves, needsCompany } = parseCohort(cohortFilters)
  const selections: Plain[] = [...takes, ...leaves]
  const cohortSize = selections.length
  // Equal scopes are checked only once, and empty ones never.
  const scopeAt = outcomes.map(({ scope }) => {
    if (Object.keys(scope).length === 0) return undefined
    const known = selections.findIndex((one, at) => at >= cohortSize && isDeepStrictEqual(one, scope))
    return known >= 0 ? known : selections.push(scope) - 1
  })
  const ids = inTime.map(({ id }) => id)
  const taken = await listSelectedAmong(db, org, ids, selections)
  const isIn = (id: string, at: number) => taken[at]?.has(id) === true
  const belongs = ({ id, companyId }: Candidate) =>
    takes.every((_, at) => isIn(id, at)) &&
    !leaves.some((_, at) => isIn(id, takes.length + at)) &&
    !(needsCompany && companyId === null)
  return new Map(
    inTime.filter(belongs).map((one): [string, ArmPlacement] => {
      const applies = scopeAt.map((at) => at === undefined || isIn(one.id, at))
      return [one.id, { arm: armOf(experiment, one), applies }]
    }),
  )
}
