import type { Static } from 'typebox'
import type { Deps } from '../deps.ts'
import type { JudgeDefinition } from '../monitors/judges/definition.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db } from '../platform/db/database.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { checkUnit } from './assignment-unit.ts'
import { parseCohort } from './cohort.ts'
import { insertGroup } from './groups/queries.ts'
import { tellLaunched } from './notices.ts'
import { noExactOutcome, storeOutcome } from './observations/exact-sums.ts'
import { getExperiment, insertExperiment, insertOutcomes, type NewOutcome, type StoredExperiment } from './queries.ts'
import { requireSound } from './requirements.ts'
import { insertRun } from './runs/queries.ts'
import type { ExperimentLaunch } from './schema.ts'
import { standardDesign } from './stats/design.ts'

type Monitor = Awaited<ReturnType<typeof requireSound>>[number]

/** A monitor that gives scores is measured by them, any other by how often it finds something. */
const measureOf = ({ kind, definition }: Monitor): Pick<NewOutcome, 'kind' | 'range'> => {
  if (kind === 'rule') return { kind: typeof definition.score === 'string' ? 'numeric' : 'boolean', range: null }
  if (kind === 'external') return { kind: 'boolean', range: null }
  // What was stored had passed the check of its kind.
  const { output } = definition as JudgeDefinition
  if (output.type === 'boolean') return { kind: 'boolean', range: null }
  return { kind: 'numeric', range: { low: output.min, high: output.max } }
}

const outcomesOf = (monitors: Monitor[], primaryId: string): NewOutcome[] =>
  monitors.map((monitor) => ({
    monitorId: monitor.id,
    monitorVersion: monitor.number,
    monitorName: monitor.name,
    monitorKind: monitor.kind,
    isPrimary: monitor.id === primaryId,
    scope: monitor.scope,
    ...measureOf(monitor),
  }))

type LaunchDeps = Pick<Deps, 'clock' | 'jobs' | 'config' | 'baseUrl'>

/** Everything at once: the experiment with its monitors as they are, their group, the run for what arrives, the word of it. */
export const launch = async (
  deps: LaunchDeps,
  trx: Db,
  actor: Actor,
  given: Static<typeof ExperimentLaunch>,
): Promise<StoredExperiment> => {
  const { org, userId } = actor
  const { cohortFilters = [], assignmentUnit = { kind: 'auto' }, newMonitorGroupName, notifications } = given
  parseCohort(cohortFilters)
  checkUnit(assignmentUnit)
  const monitors = await requireSound(trx, org, given)
  const [id, now] = [newId(), deps.clock.now()]
  const newGroupId = newMonitorGroupName === undefined ? undefined : newId()
  if (newMonitorGroupName !== undefined && newGroupId !== undefined) {
    const metricIds = monitors.map((monitor) => monitor.id)
    await insertGroup(trx, org, { id: newGroupId, name: newMonitorGroupName, metricIds })
  }
  await insertExperiment(trx, org, {
    id,
    name: given.name,
    description: given.description ?? null,
    agentId: given.agentId.toLowerCase(),
    armAVersionId: given.armAVersionId.toLowerCase(),
    armBVersionId: given.armBVersionId.toLowerCase(),
    armAName: given.armAName ?? null,
    armBName: given.armBName ?? null,
    cohortFilters,
    assignmentUnit,
    expectedArmAPercent: given.expectedArmAPercent ?? null,
    monitorGroupId: newGroupId ?? given.monitorGroupId?.toLowerCase() ?? null,
    emails: [...new Set(notifications?.emails ?? [])],
    alpha: standardDesign.alpha,
    tuningConversations: standardDesign.tuningConversations,
    startedAt: now,
    createdByUserId: userId,
  })
  const outcomes = outcomesOf(monitors, given.primaryMetricId.toLowerCase())
  await insertOutcomes(trx, org, { experimentId: id, outcomes, sums: storeOutcome(noExactOutcome) })
  await insertRun(trx, org, {
    ...{ id: newId(), experimentId: id, trigger: 'launch', status: 'running', total: 0 },
    ...{ createdByUserId: userId, createdAt: now, startedAt: now, finishedAt: null },
  })
  const experiment = await getExperiment(trx, org, id)
  await tellLaunched(deps, trx, org, experiment)
  await recordAudit(trx, actor, 'experiment.launch', { type: 'experiment', id })
  return experiment
}
