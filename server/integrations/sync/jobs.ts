import Type from 'typebox'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { newId } from '../../platform/ids.ts'
import { eachOfPages } from '../../platform/jobs/attempt-each.ts'
import { defineCleanup } from '../../platform/jobs/define-cleanup.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { currentTime, defineSweep } from '../../platform/jobs/define-sweep.ts'
import { findKnown } from './classify-calls.ts'
import { deleteGap, listDueGaps, oldGaps, storedGaps } from './gaps/queries.ts'
import {
  mostTroubles,
  mostWaits,
  nextRunMs,
  overlapMs,
  pauseSeconds,
  requestsAJob,
  retriedARun,
  windowMs,
} from './limits.ts'
import { listDueSyncs, listOrganizationsWithDueSyncsAllOrgs, lockSync, updateSync } from './queries.ts'
import { endRun, findRunningRun, insertRun, oldRuns, updateRun } from './runs/queries.ts'
import { fetchCall, findState, finishWindow, isSuperseded, listPage, type StepOutcome } from './sync-step.ts'

/** The provider failed. The failure may be temporary, so the job is retried. The organization can read the message. */
class ProviderTrouble extends Error {}

const troubled = 'The sync failed repeatedly. See the log of the service.'

/** Ends a run as failed. With `pause`, no other run starts until the settings are changed. */
const failRun = async (
  { clock }: Pick<Deps, 'clock'>,
  trx: Db,
  org: OrgId,
  runId: string,
  { reason, pause = false }: { reason: string; pause?: boolean },
): Promise<void> => {
  const now = clock.now()
  const run = await findRunningRun(trx, org, runId)
  const sync = run && (await lockSync(trx, org, run.integrationId))
  if (!sync || !(await endRun(trx, org, runId, { status: 'failed', reason, endedAt: now }))) return
  const failures = sync.failures + 1
  const nextRunAt = new Date(now.getTime() + nextRunMs(sync.intervalMinutes, failures))
  await updateSync(trx, org, run.integrationId, { failures, nextRunAt, ...(pause && { pausedReason: reason }) })
  await publishChanges(
    trx,
    org,
    { resource: 'integrations', kind: 'updated', ids: [run.integrationId] },
    { resource: 'health', kind: 'updated' },
  )
}

/** Replaces this job with a new one in the transaction that completes it. */
const goOn = (deps: Deps, attempt: Attempt, org: OrgId, runId: string, afterSeconds: number, isWait: boolean) =>
  attempt.finish(async (trx) => {
    const run = await findRunningRun(trx, org, runId)
    if (!run) return
    if (isWait && run.waits >= mostWaits) {
      return failRun(deps, trx, org, runId, { reason: 'The provider was repeatedly too busy to respond.' })
    }
    if (isWait) await updateRun(trx, org, runId, { waits: run.waits + 1 })
    await deps.jobs.enqueue(trx, syncCalls, { organizationId: org, runId }, { afterSeconds })
  })

/** Handles the outcome of a step. Returns whether the job is over, because the run has ended or was postponed. */
const isEnded = async (
  deps: Deps,
  attempt: Attempt,
  org: OrgId,
  runId: string,
  outcome: StepOutcome,
): Promise<boolean> => {
  if (outcome === 'done') return false
  if (outcome === 'over') return true
  if ('trouble' in outcome) throw new ProviderTrouble(outcome.trouble)
  if ('busySeconds' in outcome) await goOn(deps, attempt, org, runId, outcome.busySeconds, true)
  else {
    const failure = 'refused' in outcome ? { reason: outcome.refused, pause: true } : { reason: outcome.failed }
    await attempt.finish((trx) => failRun(deps, trx, org, runId, failure))
  }
  return true
}

type CurrentState = NonNullable<Awaited<ReturnType<typeof findState>>>
type Step = { kind: 'finish window' } | { kind: 'list page' } | { kind: 'fetch call'; externalId: string }

const nextStep = ({ run }: CurrentState): Step => {
  const [externalId] = run.pending
  if (externalId !== undefined) return { kind: 'fetch call', externalId }
  return { kind: run.windowListed ? 'finish window' : 'list page' }
}

const takeStep = async (
  deps: Deps,
  attempt: Attempt,
  state: CurrentState,
  { step, mayFail }: { step: Step; mayFail: boolean },
): Promise<StepOutcome> => {
  if (state.run.suspendedAt) return { failed: 'The organization was suspended.' }
  if (step.kind === 'finish window') return finishWindow(deps, attempt, state)
  if (step.kind === 'list page') return listPage(deps, attempt, state)
  try {
    return await fetchCall(deps, attempt, state, { externalId: step.externalId, mayFail })
  } catch (error) {
    if (isSuperseded(error)) return 'done'
    throw error
  }
}

const isTrouble = (outcome: StepOutcome): boolean => typeof outcome === 'object' && 'trouble' in outcome

/**
 * Reads the provider's list page by page, and fetches missing calls one by one. Each page and each call is stored in
 * one transaction with the position of the run, so that another job can continue exactly there.
 */
export const syncCalls = defineJob({
  name: 'integration.sync-calls',
  payload: Type.Object({ organizationId: OrganizationId, runId: Type.String() }),
  retryLimit: 5,
  retryDelaySeconds: 30,
  timeoutSeconds: 60 * 60,
  run: async (deps: Deps, { organizationId, runId }, attempt) => {
    const org = organizationId
    /** The number of failed calls in a row. */
    let troubles = 0
    for (let requests = 0; requests < requestsAJob; ) {
      attempt.signal.throwIfAborted()
      const state = await findState(deps, org, runId)
      if (!state) return
      const step = nextStep(state)
      if (step.kind !== 'finish window') requests += 1
      const mayFail = troubles < mostTroubles
      const outcome = await takeStep(deps, attempt, state, { step, mayFail })
      if (step.kind === 'fetch call') troubles = isTrouble(outcome) ? troubles + 1 : 0
      const isPassedOver = step.kind === 'fetch call' && isTrouble(outcome) && mayFail
      if (!isPassedOver && (await isEnded(deps, attempt, org, runId, outcome))) return
    }
    await goOn(deps, attempt, org, runId, pauseSeconds, false)
  },
  onFailed: async (deps, { organizationId, runId }, trx, error) => {
    const reason = error instanceof ProviderTrouble ? error.message : troubled
    await failRun(deps, trx, organizationId, runId, { reason })
  },
})

/** Removes gaps for calls that have been stored or erased, and returns the gaps to fetch. */
const takeUpGaps = async (trx: Db, org: OrgId, integrationId: string, now: Date) => {
  const due = await listDueGaps(trx, org, integrationId, now, retriedARun)
  const known = await findKnown(trx, org, integrationId, due)
  const isIn = (names: Set<string | null | undefined>) => due.filter((externalId) => names.has(externalId))
  const [stored, erased] = [isIn(known.complete), isIn(known.erased)]
  for (const externalId of [...stored, ...erased]) await deleteGap(trx, org, integrationId, externalId)
  const gone = new Set([...stored, ...erased])
  const count = { stored: stored.length, erased: erased.length }
  return { pending: due.filter((externalId) => !gone.has(externalId)), count }
}

/** Starts a run, unless the sync is disabled or a run is in progress. */
export const beginRun = async (deps: Pick<Deps, 'clock' | 'jobs'>, trx: Db, org: OrgId, integrationId: string) => {
  const sync = await lockSync(trx, org, integrationId)
  if (!sync?.enabled || sync.pausedReason !== null) return
  const now = deps.clock.now()
  const { listedUntil, intervalMinutes } = sync
  const { pending, count } = await takeUpGaps(trx, org, integrationId, now)
  const windowUntil = new Date(Math.min(now.getTime(), listedUntil.getTime() + windowMs))
  const windowFrom = new Date(listedUntil.getTime() - overlapMs)
  const run = { id: newId(), integrationId, until: now, windowFrom, windowUntil, startedAt: now }
  if (!(await insertRun(trx, org, run, pending))) return
  await updateRun(trx, org, run.id, { count })
  await publishChanges(trx, org, { resource: 'integrations', kind: 'updated', ids: [integrationId] })
  await updateSync(trx, org, integrationId, { nextRunAt: new Date(now.getTime() + intervalMinutes * 60_000) })
  await deps.jobs.enqueue(trx, syncCalls, { organizationId: org, runId: run.id })
}

const batch = 500

export const startSyncs = defineSweep({
  name: 'integration.start-syncs',
  schedule: '* * * * *',
  time: currentTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithDueSyncsAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batch, (page) => listDueSyncs(db, org, now, page), after),
  sweepItem: (deps, { id }, { org, attempt }) => attempt.transaction((trx) => beginRun(deps, trx, org, id)),
})

/** Deletes old runs, old gaps, and closed gaps. */
export const sweepSyncs = defineCleanup({
  name: 'integration.sweep-syncs',
  schedule: '35 * * * *',
  rows: { storedGaps, gaps: oldGaps, runs: oldRuns },
})
