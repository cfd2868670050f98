// Creates, runs, finishes, cancels, and resumes alignments. Each response of the model is stored immediately, so that
// an interrupted job continues where it stopped.

import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { type Pause, pauseAfter } from '../evaluations/runs/evaluate-page.ts'
import type { Stop } from '../evaluations/runs/judge-in-lanes.ts'
import { canMove, monitorIsGone, type RunStatus } from '../evaluations/runs/run-status.ts'
import type { JudgeDefinition } from '../monitors/judges/definition.ts'
import { findMonitorsAtVersions, lockMonitorsShared, type StoredMonitor } from '../monitors/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { addSpending } from '../organizations/spending/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { type Attempt, defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import type { AlignmentDeps } from './deps.ts'
import { evaluateCases, goingOf, reachedMaximum } from './evaluate.ts'
import { needsModel } from './kinds.ts'
import { type Proposed, propose, type TuningCase } from './propose.ts'
import {
  type AlignmentCase,
  addPaid,
  deleteFailedResults,
  getAlignment,
  insertAlignment,
  insertCases,
  insertProposal,
  listAlignmentResults,
  listCases,
  listMissing,
  listProposals,
  lockAlignment,
  type ProposalKind,
  type StoredAlignment,
  takeStoredResults,
  updateAlignment,
  updateProposal,
} from './queries.ts'
import { measureProposals, reportOf } from './report.ts'

/** After this time, the job yields to others and is queued again. */
const turnMs = 10_000
/** The number of conversations that are evaluated together, for each concurrent request to the model. */
const casesPerRequest = 4

const publish = (trx: Db, org: OrgId, id: string) =>
  publishChanges(trx, org, { resource: 'alignments', kind: 'updated', ids: [id] })

type Creation = {
  monitor: StoredMonitor
  kinds: ProposalKind[]
  maxCost: number | null
  cases: AlignmentCase[]
}

export const createAlignment = (
  { db, jobs, clock }: AlignmentDeps,
  actor: Actor,
  { monitor, kinds, maxCost, cases }: Creation,
): Promise<StoredAlignment> =>
  db.transaction().execute(async (trx) => {
    const id = newId()
    const inserted = await insertAlignment(trx, actor.org, {
      id,
      monitorId: monitor.id,
      monitorVersion: monitor.number,
      kinds,
      maxCost,
      createdByUserId: actor.userId,
      createdAt: clock.now(),
    })
    await insertCases(trx, actor.org, id, cases)
    await jobs.enqueue(trx, alignMonitor, { organizationId: actor.org, alignmentId: id, resumes: 0 })
    await recordAudit(trx, actor, 'alignment.create', { type: 'alignment', id }, { type: 'monitor', id: monitor.id })
    return inserted
  })

type AlignmentKey = { monitorId: string; alignmentId: string }

/** Cancels an alignment. Keeps results that were paid for. */
export const cancelAlignment = async (
  { clock }: AlignmentDeps,
  trx: Db,
  actor: Actor,
  { monitorId, alignmentId }: AlignmentKey,
): Promise<StoredAlignment> => {
  const { id } = await getAlignment(trx, actor.org, monitorId, alignmentId)
  const alignment = await lockAlignment(trx, actor.org, id)
  if (!alignment || !canMove(alignment.status, 'cancelled')) {
    const state = alignment?.status ?? 'gone'
    throw new ApiError('conflict', `The alignment is ${state}. Only an alignment in progress can be cancelled.`)
  }
  await recordAudit(trx, actor, 'alignment.cancel', { type: 'alignment', id })
  return updateAlignment(trx, actor.org, id, { status: 'cancelled', finishedAt: clock.now() })
}

/** Resumes a cancelled or failed alignment where it stopped. Failed evaluations are repeated. */
export const resumeAlignment = async (
  { jobs }: AlignmentDeps,
  trx: Db,
  actor: Actor,
  { monitorId, alignmentId, maxCost }: AlignmentKey & { maxCost: number | null | undefined },
): Promise<StoredAlignment> => {
  const { id } = await getAlignment(trx, actor.org, monitorId, alignmentId)
  const stopped = await lockAlignment(trx, actor.org, id)
  if (!stopped || !canMove(stopped.status, 'queued')) {
    const state = stopped?.status ?? 'gone'
    throw new ApiError('conflict', `The alignment is ${state}. Only a failed or cancelled alignment can be resumed.`)
  }
  const resumes = stopped.resumes + 1
  const queued = await updateAlignment(trx, actor.org, id, {
    status: 'queued',
    finishedAt: null,
    failure: null,
    waits: 0,
    resumes,
    ...(maxCost !== undefined && { maxCost }),
  })
  await deleteFailedResults(trx, actor.org, id)
  await jobs.enqueue(trx, alignMonitor, { organizationId: actor.org, alignmentId: id, resumes })
  await recordAudit(trx, actor, 'alignment.resume', { type: 'alignment', id })
  return queued
}

/**
 * Identifies an alignment and one run of it. When an alignment is resumed, a new job replaces the old one, which must
 * no longer change the alignment.
 */
type OwnAlignment = { id: string; resumes: number }

const lockOwn = async (trx: Db, org: OrgId, { id, resumes }: OwnAlignment) => {
  const alignment = await lockAlignment(trx, org, id)
  return alignment?.resumes === resumes ? alignment : undefined
}

type Change = Parameters<typeof updateAlignment>[3]

/** Changes the status if the transition is allowed. Returns false if the alignment has ended in the meantime. */
const move = async (trx: Db, org: OrgId, own: OwnAlignment, to: RunStatus, change: Change): Promise<boolean> => {
  const alignment = await lockOwn(trx, org, own)
  if (!alignment || !canMove(alignment.status, to)) return false
  await updateAlignment(trx, org, alignment.id, { ...change, status: to })
  await publish(trx, org, alignment.id)
  return true
}

const begin = async ({ clock }: AlignmentDeps, trx: Db, org: OrgId, own: OwnAlignment) => {
  const alignment = await lockOwn(trx, org, own)
  if (alignment?.status === 'running') return alignment
  if (alignment?.status !== 'queued') return undefined
  await takeStoredResults(trx, org, alignment)
  await publish(trx, org, alignment.id)
  return updateAlignment(trx, org, alignment.id, {
    status: 'running',
    startedAt: alignment.startedAt ?? clock.now(),
  })
}

const fail = (deps: AlignmentDeps, attempt: Attempt, org: OrgId, own: OwnAlignment, failure: string) =>
  attempt.finish((trx) => move(trx, org, own, 'failed', { failure, finishedAt: deps.clock.now() }))

/** Enqueues the next job and completes this one in the same transaction. */
const goOn = (deps: AlignmentDeps, attempt: Attempt, org: OrgId, own: OwnAlignment, pause?: Pause) =>
  attempt.finish(async (trx) => {
    if ((await lockOwn(trx, org, own))?.status !== 'running') return
    if (pause) await updateAlignment(trx, org, own.id, { waits: pause.waits })
    const payload = { organizationId: org, alignmentId: own.id, resumes: own.resumes }
    await deps.jobs.enqueue(trx, alignMonitor, payload, { afterSeconds: pause?.afterSeconds ?? 0 })
  })

const whenStopped = (deps: AlignmentDeps, attempt: Attempt, org: OrgId, alignment: StoredAlignment, stop: Stop) => {
  const pause = pauseAfter(stop, alignment.waits)
  return 'failure' in pause
    ? fail(deps, attempt, org, alignment, pause.failure)
    : goOn(deps, attempt, org, alignment, pause)
}

/** Ends an alignment: measures the current version, the people, and all proposals. */
const complete = (deps: AlignmentDeps, attempt: Attempt, org: OrgId, alignment: StoredAlignment) =>
  attempt.finish(async (trx) => {
    const { id: alignmentId } = alignment
    const present = await lockOwn(trx, org, alignment)
    if (present?.status !== 'running') return
    const [cases, results] = [await listCases(trx, org, alignmentId), await listAlignmentResults(trx, org, alignmentId)]
    const proposals = await listProposals(trx, org, alignmentId)
    for (const { kind, measured } of measureProposals({ cases, results }, proposals)) {
      await updateProposal(trx, org, { alignmentId, kind }, { measured })
    }
    const report = reportOf({ cases, results })
    await move(trx, org, alignment, 'completed', { report, finishedAt: deps.clock.now() })
  })

const readTuning = async (db: Db, org: OrgId, alignmentId: string): Promise<TuningCase[]> => {
  const results = new Map(
    (await listAlignmentResults(db, org, alignmentId))
      .filter(({ kind }) => kind === 'baseline')
      .map((result) => [result.conversationId, result]),
  )
  return (await listCases(db, org, alignmentId)).flatMap((one) => {
    const result = results.get(one.conversationId)
    return one.half === 'tuning' && result ? [{ ...one, result }] : []
  })
}

/**
 * Locks the monitor. Throws if its definition was changed, for example by an erasure. Erasure takes the same lock, so
 * it either finds the proposal or runs before the proposal is stored.
 */
const requireUnchanged = async (trx: Db, org: OrgId, alignment: StoredAlignment, definition: object): Promise<void> => {
  const { monitorId: id, monitorVersion: number } = alignment
  await lockMonitorsShared(trx, org, [id])
  const [monitor] = await findMonitorsAtVersions(trx, org, [{ id, number }])
  if (isDeepStrictEqual(monitor?.definition, definition)) return
  throw new Error('the definition changed while a proposal was made from it')
}

const storeProposal = (
  deps: AlignmentDeps,
  attempt: Attempt,
  org: OrgId,
  alignment: StoredAlignment,
  { kind, proposed, definition }: { kind: ProposalKind; proposed: Proposed; definition: object },
) =>
  attempt.transaction(async (trx) => {
    const { id: alignmentId } = alignment
    const { paid, ...proposal } = proposed
    const isInserted = await insertProposal(trx, org, alignmentId, { kind, ...proposal })
    if (!isInserted) throw new Error('a review was removed while a proposal was made from it')
    if (proposal.definition) await requireUnchanged(trx, org, alignment, definition)
    if (!paid) return
    await addSpending(trx, org, monthOf(deps.clock.now()), paid)
    await addPaid(trx, org, { alignmentId, kind }, paid)
  })

/** Returns the next step of an alignment. */
type Step =
  | { evaluates: ProposalKind | 'baseline'; ids: string[]; definition: object }
  | { proposes: ProposalKind }
  | undefined

const nextStep = async (
  { db }: AlignmentDeps,
  org: OrgId,
  { id: alignmentId, kinds }: StoredAlignment,
  { definition, limit }: { definition: object; limit: number },
): Promise<Step> => {
  const baseline = await listMissing(db, org, { alignmentId, kind: 'baseline', limit })
  if (baseline.length > 0) return { evaluates: 'baseline', ids: baseline, definition }
  const proposals = await listProposals(db, org, alignmentId)
  const proposes = kinds.find((kind) => !proposals.some((proposal) => proposal.kind === kind))
  if (proposes) return { proposes }
  for (const { kind, definition: proposed } of proposals) {
    if (!needsModel(kind) || !proposed) continue
    const ids = await listMissing(db, org, { alignmentId, kind, limit })
    if (ids.length > 0) return { evaluates: kind, ids, definition: proposed }
  }
  return undefined
}

/** Takes the next step. Returns whether there are more. If it returns false, the job has ended. */
const advance = async (
  deps: AlignmentDeps,
  attempt: Attempt,
  org: OrgId,
  alignment: StoredAlignment,
): Promise<boolean> => {
  const finished = async (ending: Promise<unknown>) => {
    await ending
    return false
  }
  const [monitor] = await findMonitorsAtVersions(deps.db, org, [
    { id: alignment.monitorId, number: alignment.monitorVersion },
  ])
  if (!monitor) return finished(fail(deps, attempt, org, alignment, monitorIsGone))
  const limit = casesPerRequest * (await deps.judge.concurrencyOf(org, monitor.definition))
  const step = await nextStep(deps, org, alignment, { definition: monitor.definition, limit })
  if (!step) return finished(complete(deps, attempt, org, alignment))
  if ('proposes' in step) {
    const { proposes: kind } = step
    if (needsModel(kind) && (await goingOf(deps, org, alignment)) === 'paid') {
      return finished(whenStopped(deps, attempt, org, alignment, reachedMaximum))
    }
    const tuning = await readTuning(deps.db, org, alignment.id)
    // Definitions were validated for their kind when they were stored.
    const definition = monitor.definition as JudgeDefinition
    const proposed = await propose(deps, org, kind, { alignment, definition, tuning, attempt })
    if ('kind' in proposed) return finished(whenStopped(deps, attempt, org, alignment, proposed))
    await storeProposal(deps, attempt, org, alignment, { kind, proposed, definition })
  } else {
    const { evaluates: kind, ids, definition } = step
    // The validated definition of the current version or of a proposal.
    const evaluated = { ...monitor, definition: definition as StoredMonitor['definition'] }
    const stop = await evaluateCases(deps, org, { alignment, monitor: evaluated, kind, ids, attempt })
    if (stop) return finished(whenStopped(deps, attempt, org, alignment, stop))
  }
  const isCounted = await attempt.transaction(async (trx) => {
    if ((await lockOwn(trx, org, alignment))?.status !== 'running') return false
    await updateAlignment(trx, org, alignment.id, { waits: 0 })
    await publish(trx, org, alignment.id)
    return true
  })
  return isCounted || finished(attempt.finish(async () => {}))
}

/** Processes an alignment step by step. */
export const alignMonitor = defineJob({
  name: 'monitor.align',
  payload: Type.Object({ organizationId: OrganizationId, alignmentId: Type.String(), resumes: Type.Integer() }),
  concurrency: 8,
  retryLimit: 20,
  retryDelaySeconds: 2,
  // A judge may wait a long time for its endpoint.
  timeoutSeconds: 60 * 60,
  run: async (deps: AlignmentDeps, { organizationId, alignmentId, resumes }, attempt) => {
    const org = organizationId
    const endsAt = performance.now() + turnMs
    for (;;) {
      attempt.signal.throwIfAborted()
      const own = { id: alignmentId, resumes }
      const alignment = await attempt.transaction((trx) => begin(deps, trx, org, own))
      if (!alignment) return attempt.finish(async () => {})
      if (!(await advance(deps, attempt, org, alignment))) return
      if (performance.now() >= endsAt) return goOn(deps, attempt, org, own)
    }
  },
  onFailed: async ({ clock }, { organizationId, alignmentId, resumes }, trx) => {
    await move(trx, organizationId, { id: alignmentId, resumes }, 'failed', {
      failure: 'The alignment failed repeatedly. See the log of the service.',
      finishedAt: clock.now(),
    })
  },
})
