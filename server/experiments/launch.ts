import type { Static } from 'typebox'
import { getAgent } from '../agents/queries.ts'
import type { Plain } from '../filters/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { standardDesign } from '../statistics/design.ts'
import { insertGroup } from './groups/queries.ts'
import { measuresOf, type OutcomeMeasure } from './measures.ts'
import { tellLaunched } from './notices.ts'
import { noExactOutcome, storeOutcome } from './observations/exact-sums.ts'
import { noteChanges } from './observations/note-changes.ts'
import {
  countRunning,
  getExperiment,
  insertExperiment,
  insertOutcomes,
  listBegunSince,
  lockArrivals,
  type NewOutcome,
  type StoredExperiment,
} from './queries.ts'
import { requireSound } from './requirements.ts'
import { createLaunchRun } from './runs/lifecycle.ts'
import type { ExperimentLaunch } from './schema.ts'

type Monitor = Awaited<ReturnType<typeof requireSound>>[number]

/**
 * Returns the scope to store with the experiment. The agents in a group can change later, so the scope depends on the
 * agent's groups at launch.
 */
const scopeFor = (groupIds: string[], { agentGroupIds, ...scope }: Plain): Plain => {
  const isTaken = agentGroupIds === undefined || agentGroupIds.some((id) => groupIds.includes(id))
  // An empty list of channels matches nothing.
  return isTaken ? scope : { ...scope, channels: [] }
}

type Outcomes = { monitors: Monitor[]; measures: OutcomeMeasure[] | undefined; primaryId: string; groupIds: string[] }

/** Returns the outcomes in order. The primary monitor's first outcome is the primary outcome. */
const outcomesOf = ({ monitors, measures, primaryId, groupIds }: Outcomes): NewOutcome[] =>
  monitors.flatMap((monitor) =>
    measuresOf(monitor, measures).map((measured, at) => ({
      monitorId: monitor.id,
      monitorVersion: monitor.number,
      monitorName: monitor.name,
      monitorKind: monitor.kind,
      isPrimary: monitor.id === primaryId && at === 0,
      // `requireSound` rejects all other scopes.
      scope: scopeFor(groupIds, monitor.scope as Plain),
      ...measured,
    })),
  )

/**
 * The maximum number of running experiments per agent, because every conversation costs something in each experiment.
 */
const mostRunning = 20

type LaunchDeps = Pick<Deps, 'clock' | 'jobs' | 'config' | 'baseUrl' | 'reactions'>

/**
 * Launches an experiment in one transaction, with its current monitors, their group, the run for new conversations, and
 * an email.
 */
export const launch = async (
  deps: LaunchDeps,
  trx: Db,
  actor: Actor,
  given: Static<typeof ExperimentLaunch>,
): Promise<StoredExperiment> => {
  const { org, userId } = actor
  const { cohortFilters = [], assignmentUnit = { kind: 'auto' }, newMonitorGroupName, notifications } = given
  const monitors = await requireSound(trx, org, given)
  const agentId = given.agentId.toLowerCase()
  await lockArrivals(trx, org, agentId)
  if ((await countRunning(trx, org, agentId)) >= mostRunning) {
    throw invalid('agentId', `already has ${mostRunning} running experiments; finish one first`)
  }
  const [id, now] = [newId(), deps.clock.now()]
  const newGroupId = newMonitorGroupName === undefined ? undefined : newId()
  if (newMonitorGroupName !== undefined && newGroupId !== undefined) {
    const metricIds = monitors.map((monitor) => monitor.id)
    await insertGroup(trx, org, { id: newGroupId, name: newMonitorGroupName, metricIds }).catch((error: unknown) => {
      // The API does not document a 409 for this operation.
      throw error instanceof ApiError
        ? invalid('newMonitorGroupName', 'is already the name of another monitor group')
        : error
    })
  }
  await insertExperiment(trx, org, {
    id,
    name: given.name,
    description: given.description ?? null,
    agentId,
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
  const { groupIds } = await getAgent(trx, org, agentId)
  const primaryId = given.primaryMetricId.toLowerCase()
  const outcomes = outcomesOf({ monitors, measures: given.outcomeMeasures, primaryId, groupIds })
  await insertOutcomes(trx, org, { experimentId: id, outcomes, sums: storeOutcome(noExactOutcome) })
  await createLaunchRun(trx, actor, id, now)
  await noteChanges(deps, trx, org, { conversationIds: await listBegunSince(trx, org, agentId, now) })
  const experiment = await getExperiment(trx, org, id)
  await tellLaunched(deps, trx, org, experiment)
  await recordAudit(trx, actor, 'experiment.launch', { type: 'experiment', id })
  return experiment
}
