// Manages the lifecycle of a batch. The batch is created with the requests that are reserved for it, submitted, read
// after the provider has answered it, and ended. Its row always records whether the provider may have it. If a batch is
// interrupted at any point, it continues from there, and it is never submitted again while the provider has it.

import Type from 'typebox'
import type { RemoteBatch } from '../../../model-providers/batches/dialect.ts'
import type { BatchAnswer } from '../../../model-providers/batches/open-batches.ts'
import { EndpointError } from '../../../model-providers/requests/endpoint-error.ts'
import type { BatchJudge } from '../../../monitors/judges/batch.ts'
import type { JudgeDefinition } from '../../../monitors/judges/definition.ts'
import { findMonitorsAtVersions, type StoredMonitor } from '../../../monitors/queries.ts'
import { addReservation } from '../../../organizations/spending/queries.ts'
import { publishChanges } from '../../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/ids.ts'
import { type Attempt, defineJob, OrganizationId } from '../../../platform/jobs/define-job.ts'
import type { EvaluationDeps } from '../../deps.ts'
import { findRun, type Run } from '../queries.ts'
import { monitorIsGone } from '../run-status.ts'
import { type Batch, disownRemote, findBatch, insertBatch, listRemoteIds, lockBatch, updateBatch } from './queries.ts'
import { readConversations } from './read-conversations.ts'
import { conversationOf, requestIdOf } from './request-id.ts'
import { storeAnswers } from './store-answers.ts'

const pollSeconds = 60
/** The error that OpenAI and Azure return if the batches in progress have too many tokens together. */
const tooManyTokens = 'token_limit_exceeded'
const fullPauseSeconds = 10 * 60
/** The wait after a provider's error. */
const errorPauseSeconds = 60
/** If a batch can't be found this long after it was sent, it was not created. Before that, it may still appear. */
const settledMs = 5 * 60_000
/** Providers answer within a day, or let the batch expire. After this time, no answer is expected. */
const longestMs = 48 * 3_600_000
/** The number of results that are checked and stored together. */
const answersAtOnce = 20

type NewBatch = {
  run: Run
  model: string
  conversationIds: string[]
  readAt: Date
  cost: number
  month: string
}

/** Creates a batch in the transaction that reserves its cost, and queues its job. */
export const createBatch = async (
  { jobs, clock }: Pick<EvaluationDeps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  { run, cost: reservedCost, month: reservedMonth, ...batch }: NewBatch,
): Promise<void> => {
  const id = newId()
  const { id: runId, resumes } = run
  await addReservation(trx, org, reservedMonth, reservedCost)
  const createdAt = clock.now()
  await insertBatch(trx, org, { id, runId, resumes, ...batch, reservedCost, reservedMonth, createdAt })
  await jobs.enqueue(trx, evaluateBatch, { organizationId: org, batchId: id })
}

type Task = {
  deps: EvaluationDeps
  org: OrgId
  attempt: Attempt
  batch: Batch
  /** Undefined if the monitor was deleted. */
  monitor: StoredMonitor | undefined
  judging: BatchJudge
  /** Whether the run still needs the results. */
  isWanted: boolean
}

/** The number of seconds until the next step, or the reason why the batch ended. */
type Next = { afterSeconds: number } | { failure: string | null }

const now: Next = { afterSeconds: 0 }

/** Changes a batch, unless another step has already changed it. */
const change = ({ org, attempt, batch }: Task, to: Parameters<typeof updateBatch>[3]) =>
  attempt.transaction(async (trx) => {
    const present = await lockBatch(trx, org, batch.id)
    if (present?.status === batch.status) await updateBatch(trx, org, batch.id, to)
  })

/** Records that the provider has the batch. Without a marker, a batch found by a search may be a different one. */
const noteSubmitted = ({ org, attempt, batch }: Task, { id: remoteId, expiresAt }: RemoteBatch, isCertain: boolean) =>
  attempt.transaction(async (trx) => {
    const present = await lockBatch(trx, org, batch.id)
    if (present?.status !== 'submitting') return
    if (isCertain) await disownRemote(trx, org, { id: batch.id, remoteId })
    await updateBatch(trx, org, batch.id, { status: 'submitted', remoteId, isCertain, expiresAt })
    await publishChanges(trx, org, { resource: 'evaluation-runs', kind: 'updated', ids: [batch.runId] })
  })

const requestsOf = async ({ deps, org, batch, judging }: Task) => {
  const conversations = await readConversations(deps, org, batch.conversationIds)
  return conversations.flatMap(({ id, turns }) => {
    const prompt = judging.promptFor(turns)
    return prompt ? [{ id: requestIdOf(batch.id, id), prompt }] : []
  })
}

/** Sends the batch. Before that, records in its row that the provider may have it. */
const submit = async (task: Task): Promise<Next> => {
  const { deps, org, attempt, batch, judging, isWanted } = task
  if (!isWanted) return { failure: null }
  const { client, model } = judging.batches
  const { signal } = attempt
  const requests = await requestsOf(task)
  if (requests.length === 0) return { failure: null }
  const file = batch.fileId ?? (await client.upload(model, requests, batch.id, signal))
  await attempt.transaction(async (trx) => {
    const present = await lockBatch(trx, org, batch.id)
    if (present?.status !== 'new') throw new Error('The batch is no longer new.')
    const submittingAt = deps.clock.now()
    await updateBatch(trx, org, batch.id, {
      status: 'submitting',
      fileId: file,
      submittingAt,
      requests: requests.length,
    })
  })
  try {
    const remote = await client.create(model, requests, { marker: batch.id, file }, signal)
    await noteSubmitted(task, remote, true)
  } catch (error) {
    // The provider reports that it created nothing, so the batch can be sent later.
    if (error instanceof EndpointError && error.kind === 'busy') {
      await change({ ...task, batch: { ...batch, status: 'submitting' } }, { status: 'new' })
    }
    throw error
  }
  return { afterSeconds: pollSeconds }
}

/** Searches the provider for a batch after its submission was interrupted. */
const findSubmitted = async (task: Task): Promise<Next> => {
  const { deps, org, attempt, batch, judging, isWanted } = task
  const since = batch.submittingAt ?? batch.createdAt
  const others = new Set([...batch.otherIds, ...(await listRemoteIds(deps.db, org, batch.id))])
  const sent = { marker: batch.id, requests: batch.requests, since, isOther: (id: string) => others.has(id) }
  const found = await judging.batches.client.find(sent, attempt.signal)
  if (found) {
    await noteSubmitted(task, found, found.marker === batch.id)
    return now
  }
  if (deps.clock.now().getTime() < since.getTime() + settledMs) return { afterSeconds: errorPauseSeconds }
  if (!isWanted) return { failure: null }
  await change(task, { status: 'new' })
  return now
}

/** Stores the results that are not stored yet. Returns false if they belong to another batch. */
const readResults = async (
  { deps, org, attempt, batch, judging }: Task,
  monitor: StoredMonitor,
  remote: RemoteBatch,
): Promise<boolean> => {
  const seen = new Set<string>()
  let waiting: BatchAnswer[] = []
  let from = batch.readResults
  const store = async () => {
    const answers = waiting
    waiting = []
    if (answers.length === 0) return
    await storeAnswers(deps, org, { batch, monitor, judging, attempt, from, answers })
    from += answers.length
  }
  for await (const answer of judging.batches.client.results(remote, attempt.signal)) {
    if (conversationOf(batch.id, answer.id) === undefined) return false
    // Each conversation counts only once, regardless of what the provider returns.
    if (seen.has(answer.id)) continue
    seen.add(answer.id)
    if (seen.size <= batch.readResults) continue
    waiting.push(answer)
    if (waiting.length === answersAtOnce) await store()
  }
  await store()
  return true
}

/** Requests the status of the batch from the provider, and stores the results after the batch has ended. */
const follow = async (task: Task): Promise<Next> => {
  const { deps, org, attempt, batch, monitor, judging, isWanted } = task
  const { client } = judging.batches
  const { signal } = attempt
  const remoteId = batch.remoteId ?? ''
  // A batch that may belong to another program is never cancelled.
  if (!isWanted && batch.isCertain && batch.cancelledAt === null) {
    await client.cancel(remoteId, signal).catch((error: unknown) => {
      // A batch that has ended in the meantime can't be cancelled.
      if (!(error instanceof EndpointError) || (error.kind !== 'refused' && error.status !== 409)) throw error
    })
    await change(task, { cancelledAt: deps.clock.now() })
  }
  if (!monitor) return { failure: monitorIsGone }
  const remote = await client.get(remoteId, signal)
  const { answered, failed, expiresAt } = remote
  await attempt.transaction(async (trx) => {
    const present = await lockBatch(trx, org, batch.id)
    if (present?.remoteId !== remoteId) return
    await updateBatch(trx, org, batch.id, { answered, failed, expiresAt: expiresAt ?? present.expiresAt })
    await publishChanges(trx, org, { resource: 'evaluation-runs', kind: 'updated', ids: [batch.runId] })
  })
  if (remote.state === 'processing') return { afterSeconds: pollSeconds }
  if (remote.state === 'rejected' && remote.fault === tooManyTokens) {
    await change(task, { status: 'new', remoteId: null })
    return { afterSeconds: fullPauseSeconds }
  }
  if (remote.state === 'rejected') return { failure: rejected(remote.fault) }
  if (!(await readResults(task, monitor, remote))) {
    await change(task, { status: 'submitting', remoteId: null, otherIds: [...batch.otherIds, remoteId] })
    return now
  }
  await client.remove(remote, signal).catch((err: unknown) => {
    signal.throwIfAborted()
    deps.log.warn({ err }, 'could not delete a batch from its provider')
  })
  return { failure: null }
}

const rejected = (fault: string | null): string =>
  `The model provider rejected the batch${fault === null ? '' : ` (${fault})`}. Start the run without a batch, or try again later.`

const steps = { new: submit, submitting: findSubmitted, submitted: follow }

const end = async (
  { clock }: Pick<EvaluationDeps, 'clock'>,
  trx: Db,
  org: OrgId,
  id: string,
  failure: string | null,
) => {
  const batch = await lockBatch(trx, org, id)
  if (!batch || batch.status === 'ended') return
  await addReservation(trx, org, batch.reservedMonth, -batch.reservedCost)
  const endedAt = clock.now()
  await updateBatch(trx, org, id, { status: 'ended', failure, endedAt, reservedCost: 0, conversationIds: [] })
  await publishChanges(trx, org, { resource: 'evaluation-runs', kind: 'updated', ids: [batch.runId] })
}

/** If its monitor was deleted, a batch is only cancelled. */
const noDefinition: JudgeDefinition = { criteria: '', output: { type: 'boolean' } }

/** Returns everything that the batch needs, or the reason why it can't continue. */
const openTask = async (deps: EvaluationDeps, org: OrgId, attempt: Attempt, batch: Batch): Promise<Task | Next> => {
  const run = await findRun(deps.db, org, batch.runId)
  const pinned = run ? [{ id: run.monitorId, number: run.monitorVersion }] : []
  const [monitor] = await findMonitorsAtVersions(deps.db, org, pinned)
  // Definitions were validated for their kind when they were stored.
  const definition = monitor ? (monitor.definition as JudgeDefinition) : noDefinition
  const judging = await deps.judge.batching(org, definition, batch.model)
  // The provider may be enabled again before the batch expires.
  if ('fault' in judging) return batch.status === 'new' ? { failure: judging.fault } : { afterSeconds: 5 * pollSeconds }
  const isWanted = monitor !== undefined && run?.status === 'running' && run.resumes === batch.resumes
  return { deps, org, attempt, batch, monitor, judging, isWanted }
}

/** Takes the next step. If the provider rejects a batch that was not created yet, the batch ends. */
const takeStep = async (step: (task: Task) => Promise<Next>, task: Task): Promise<Next> => {
  try {
    return await step(task)
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    const failure = step === submit ? refusalOf(error) : step === follow ? lossOf(error, task) : undefined
    if (failure !== undefined) return { failure }
    return { afterSeconds: Math.max(errorPauseSeconds, Math.ceil(error.retryAfterMs / 1_000)) }
  }
}

/** Returns the reason why the provider rejected the batch, or undefined if it may accept the batch later. */
const refusalOf = ({ kind, status, message }: EndpointError): string | undefined => {
  if (kind !== 'refused' && kind !== 'locked') return undefined
  const hasNone = status === 404 || status === 405
  return `The model provider ${hasNone ? 'does not offer batches' : 'rejected the batch'}: ${message}.`
}

/** A batch that was just created may not be visible yet. */
const lossOf = ({ status }: EndpointError, { deps, batch }: Task): string | undefined => {
  const submittedAt = (batch.submittingAt ?? batch.createdAt).getTime()
  const isSettled = deps.clock.now().getTime() >= submittedAt + settledMs
  return status === 404 && isSettled ? 'The model provider no longer has the batch.' : undefined
}

/**
 * Submits a batch, waits for its results, and stores them. Each step is its own job, because a batch takes up to a day.
 */
export const evaluateBatch = defineJob({
  name: 'evaluation.batch',
  payload: Type.Object({ organizationId: OrganizationId, batchId: Type.String() }),
  // The requests in a batch are in memory while the batch is sent.
  concurrency: 2,
  retryLimit: 20,
  timeoutSeconds: 60 * 60,
  run: async (deps: EvaluationDeps, { organizationId: org, batchId }, attempt) => {
    const { db, clock, jobs } = deps
    for (;;) {
      attempt.signal.throwIfAborted()
      const batch = await findBatch(db, org, batchId)
      if (!batch || batch.status === 'ended') return attempt.finish(async () => {})
      const isOver = clock.now().getTime() > batch.createdAt.getTime() + longestMs
      const task = await openTask(deps, org, attempt, batch)
      const taken = 'judging' in task ? await takeStep(steps[batch.status], task) : task
      const next = isOver && 'afterSeconds' in taken ? { failure: neverAnswered } : taken
      if ('failure' in next) return attempt.finish((trx) => end(deps, trx, org, batchId, next.failure))
      if (next.afterSeconds === 0) continue
      return attempt.finish(async (trx) => {
        const { afterSeconds } = next
        await jobs.enqueue(trx, evaluateBatch, { organizationId: org, batchId }, { afterSeconds })
      })
    }
  },
  onFailed: (deps, { organizationId, batchId }, trx) => end(deps, trx, organizationId, batchId, failedRepeatedly),
})

const neverAnswered = 'The model provider did not answer the batch within two days.'
const failedRepeatedly = 'The evaluation failed repeatedly. See the log of the service.'
