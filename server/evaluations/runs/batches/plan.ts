// Sends the conversations of a run to its provider as batches, and waits until all of them have ended. After that, the
// run evaluates what is still missing with ordinary requests.

import type { BatchJudge } from '../../../monitors/judges/batch.ts'
import type { JudgeDefinition } from '../../../monitors/judges/definition.ts'
import type { StoredMonitor } from '../../../monitors/queries.ts'
import { monthOf } from '../../../organizations/spending/month.ts'
import { addReservation, getSpending } from '../../../organizations/spending/queries.ts'
import type { Db, OrgId } from '../../../platform/db/database.ts'
import type { Attempt } from '../../../platform/jobs/define-job.ts'
import type { EvaluationDeps } from '../../deps.ts'
import { listAnswered, listSubjects } from '../../queries.ts'
import { overBudget, type Stop } from '../judge-in-lanes.ts'
import { findNextPage } from '../next-page.ts'
import { lockRun, type Run, type RunPosition, updateRun } from '../queries.ts'
import { createBatch } from './lifecycle.ts'
import { findFailure, listOpenBatches } from './queries.ts'
import { readConversations } from './read-conversations.ts'

/** The maximum number of requests in a batch. */
const mostRequests = 1_000
/** The maximum number of characters in the transcripts of a batch, which are in memory at once. */
const mostCharacters = 8 * 1024 * 1024
/** The maximum number of batches that a run can have in progress at once. */
const mostOpen = 20
const waitSeconds = 30

type Request = { id: string; cost: number }

/** A section of a run: its conversations in order, and those that need a request. */
type PlannedPage = { page: RunPosition[]; requests: Request[]; readAt: Date }

const wait: Stop = { kind: 'later', afterSeconds: waitSeconds }

/** Returns the first conversations on a page: as many as may be in memory at once, but at least one. */
const boundPage = async (db: Db, org: OrgId, page: RunPosition[]): Promise<RunPosition[]> => {
  const subjects = await listSubjects(
    db,
    org,
    page.map(({ id }) => id),
  )
  const lengths = new Map(subjects.map(({ id, length }) => [id, length ?? 0]))
  let characters = 0
  return page.filter(({ id }, at) => {
    characters += lengths.get(id) ?? 0
    return at === 0 || characters <= mostCharacters
  })
}

/** Reads the next section of a run, and the maximum cost of each request. */
const readPart = async (
  deps: EvaluationDeps,
  org: OrgId,
  { run, monitor, judging }: { run: Run; monitor: StoredMonitor; judging: BatchJudge },
): Promise<PlannedPage> => {
  const { db, clock } = deps
  const { sentStartedAt: startedAt, sentId: id } = run
  const after = startedAt && id !== null ? { startedAt, id } : undefined
  const next = await findNextPage(deps, org, run.population, { size: mostRequests, after })
  const page = await boundPage(db, org, next)
  const pairs = page.map((one) => ({ conversationId: one.id, monitorId: monitor.id, monitorVersion: monitor.number }))
  const answered = await listAnswered(db, org, pairs, { failedSince: run.startedAt ?? run.createdAt })
  const settled = new Set(answered.map(({ conversationId }) => conversationId))
  const readAt = clock.now()
  const ids = page.map((one) => one.id).filter((one) => !settled.has(one))
  const requests = (await readConversations(deps, org, ids)).flatMap((one) => {
    const prompt = judging.promptFor(one.turns)
    return prompt ? [{ id: one.id, cost: judging.expectedCost(prompt) }] : []
  })
  return { page, requests, readAt }
}

/** Returns as many of the first requests as the budget allows. */
const withinBudget = (requests: Request[], budgetLeft: number | null): Request[] => {
  let cost = 0
  return requests.filter((one) => {
    cost += one.cost
    return budgetLeft === null || cost <= budgetLeft
  })
}

/** Returns the last conversation in a section before the first request that doesn't fit. */
const lastOf = ({ page, requests }: PlannedPage, fitting: Request[]): RunPosition | undefined => {
  const next = requests[fitting.length]
  return next ? page[page.findIndex(({ id }) => id === next.id) - 1] : page.at(-1)
}

type Sending = { run: Run; model: string; part: PlannedPage; isFirst: boolean }

/** Reserves the cost of the next batch and creates the batch. Returns a stop if the budget allows no request. */
const reserve = async (
  deps: EvaluationDeps,
  trx: Db,
  org: OrgId,
  { run, model, part, isFirst }: Sending,
): Promise<Stop | undefined> => {
  const present = await lockRun(trx, org, run.id)
  if (present?.status !== 'running' || present.resumes !== run.resumes) return undefined
  const month = monthOf(deps.clock.now())
  // This locks the month, so that no other run can reserve the same money.
  await addReservation(trx, org, month, 0)
  const { budgetLeft } = await getSpending(trx, org, month)
  const fitting = withinBudget(part.requests, budgetLeft)
  // Batches in progress may cost less than reserved.
  if (part.requests.length > 0 && fitting.length === 0) return isFirst ? overBudget : wait
  if (fitting.length > 0) {
    const conversationIds = fitting.map(({ id }) => id)
    const cost = fitting.reduce((sum, one) => sum + one.cost, 0)
    await createBatch(deps, trx, org, { run, model, conversationIds, readAt: part.readAt, cost, month })
  }
  const sent = lastOf(part, fitting)
  if (sent) await updateRun(trx, org, run.id, { sent })
  return undefined
}

type Planning = { run: Run; monitor: StoredMonitor; attempt: Attempt }

const sendNext = async (
  deps: EvaluationDeps,
  org: OrgId,
  { run, monitor, attempt }: Planning,
  openBatches: number,
): Promise<Stop | undefined> => {
  // Definitions were validated for their kind when they were stored.
  const judging = await deps.judge.batching(org, monitor.definition as JudgeDefinition)
  if ('fault' in judging) return { kind: 'over', failure: judging.fault }
  const part = await readPart(deps, org, { run, monitor, judging })
  if (part.page.length === 0) return movePhase(org, { run, attempt }, 'waiting')
  const sending = { run, model: judging.batches.name, part, isFirst: openBatches === 0 }
  return attempt.transaction((trx) => reserve(deps, trx, org, sending))
}

const movePhase = async (org: OrgId, { run, attempt }: Omit<Planning, 'monitor'>, batchPhase: 'waiting' | 'ended') => {
  await attempt.transaction(async (trx) => {
    const present = await lockRun(trx, org, run.id)
    if (present?.status === 'running' && present.resumes === run.resumes)
      await updateRun(trx, org, run.id, { batchPhase })
  })
  return undefined
}

/**
 * Takes the next step of a run that sends batches. Returns a stop if the run has to wait or fails. After all batches
 * have ended, the run is in its last phase.
 */
export const planBatches = async (deps: EvaluationDeps, org: OrgId, planning: Planning): Promise<Stop | undefined> => {
  const { run } = planning
  const failure = await findFailure(deps.db, org, run)
  if (failure !== undefined) return { kind: 'over', failure }
  const open = await listOpenBatches(deps.db, org, run.id)
  if (run.batchPhase === 'waiting') return open.length > 0 ? wait : movePhase(org, planning, 'ended')
  // Batches that were sent before the run was resumed may still answer the same conversations.
  if (open.length >= mostOpen || open.some(({ resumes }) => resumes !== run.resumes)) return wait
  return sendNext(deps, org, planning, open.length)
}
