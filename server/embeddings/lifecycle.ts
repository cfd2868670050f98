// Embeds conversations: new and changed ones after they are stored, and older ones in the background, newest first.

import Type from 'typebox'
import { EndpointError } from '../model-providers/requests/endpoint-error.ts'
import { batchesOf } from '../platform/batches.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { StaleAttempt } from '../platform/jobs/attempt.ts'
import { type Attempt, defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { embedConversation, embedConversations, storeEmbeddings } from './embed-conversations.ts'
import { findCurrentModel } from './model-numbers.ts'
import { builtIn } from './models.ts'
import {
  deleteEmbeddings,
  deleteProgress,
  deleteWaiting,
  findModelNumber,
  findProgress,
  insertProgress,
  insertWaiting,
  listDoneAllOrgs,
  listFailed,
  listModelNamesAllOrgs,
  listNextOlder,
  listWaiting,
  type Progress,
  updateProgress,
} from './queries.ts'

/** The number of conversations that are embedded together. */
const batchSize = 25

/** After this time, an organization yields to others. */
const sliceMs = 10_000

/** The number of conversations to read at once when looking for those that are not embedded. */
const pageSize = 1_000
const singletonKey = 'sweep'

const embedTogether = async (deps: Deps, org: OrgId, ids: string[], attempt: Attempt): Promise<void> => {
  const made = await embedConversations(deps, org, ids, { signal: attempt.signal, background: true })
  await attempt.transaction((trx) => storeEmbeddings(deps, trx, org, { ids, made }))
}

const embedAlone = async (deps: Deps, org: OrgId, id: string, attempt: Attempt): Promise<void> => {
  const made = await embedConversation(deps, org, id, { signal: attempt.signal, background: true })
  await attempt.transaction((trx) => storeEmbeddings(deps, trx, org, { ids: [id], made }))
}

/** Returns the error, or throws it if the attempt has to end because of it. */
const errorOf = async (work: Promise<void>, { signal }: Attempt): Promise<unknown> => {
  try {
    await work
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof StaleAttempt) throw error
    return error
  }
}

/**
 * Embeds a batch. If that fails, embeds each conversation on its own, so that one conversation can't block the others.
 * Throws if several conversations fail and none succeeds.
 */
const embedBatch = async (deps: Deps, org: OrgId, ids: string[], attempt: Attempt): Promise<void> => {
  const fault = await errorOf(embedTogether(deps, org, ids, attempt), attempt)
  if (fault === undefined) return
  // Only a refused text is the fault of its conversation. Every other failure of an endpoint affects all conversations.
  if (fault instanceof EndpointError && fault.kind !== 'refused') throw fault
  const errors: unknown[] = []
  for (const id of ids) {
    const error = await errorOf(embedAlone(deps, org, id, attempt), attempt)
    if (error === undefined) continue
    if (error instanceof EndpointError) throw error
    errors.push(error)
    deps.log.error({ organizationId: org, conversationId: id, err: error }, 'embedding a conversation failed')
    if (errors.length > 1 && errors.length === ids.length) throw error
    await attempt.transaction((trx) => deleteWaiting(trx, org, [id]))
  }
}

/** Embeds marked conversations until none is left or the time is over. Returns whether none is left. */
const embedWaiting = async (deps: Deps, org: OrgId, attempt: Attempt): Promise<boolean> => {
  const endsAt = performance.now() + sliceMs
  let after: string | undefined
  do {
    const ids = await listWaiting(deps.database.dbOf(org), org, { after, limit: batchSize })
    if (ids.length === 0) return true
    await embedBatch(deps, org, ids, attempt)
    after = ids.at(-1)
  } while (performance.now() < endsAt)
  return false
}

/**
 * Embeds new conversations, and those with a new transcript. One job embeds all that arrived since the last one, in
 * batches, which takes far less time than a job for each. If the model doesn't answer, `embedOlder` embeds them later.
 */
export const embedNew = defineJob({
  name: 'embeddings.embed',
  payload: Type.Object({ organizationId: OrganizationId }),
  retryLimit: 3,
  retryDelaySeconds: 30,
  concurrency: 2,
  run: async (deps: Deps, { organizationId: org }, attempt) => {
    if (!deps.config.embeddings) return
    try {
      if (await embedWaiting(deps, org, attempt)) return
      await attempt.finish((trx) => enqueueNew(deps, trx, org))
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error
      deps.log.warn({ organizationId: org, reason: error.message }, 'embedding conversations has to wait')
      await attempt.finish((trx) => deleteProgress(trx, org))
    }
  },
  onFailed: (_deps, { organizationId: org }, trx) => deleteProgress(trx, org).then(() => {}),
})

const enqueueNew = ({ jobs }: Pick<Deps, 'jobs'>, trx: Db, org: OrgId) =>
  jobs.enqueue(trx, embedNew, { organizationId: org }, { singletonKey: 'new' })

type Stored = Record<'conversationIds' | 'createdIds' | 'toEvaluate' | 'changedOtherwise', string[]>

/**
 * Deletes the vectors of changed transcripts, and marks new and changed conversations for the job that embeds them, in
 * the same transaction as the change. This must be the last reaction: transactions of one organization wait for each
 * other to enqueue this job, so one that waits must already have its other locks.
 */
export const embedStored = async (
  { jobs, config }: Pick<Deps, 'jobs' | 'config'>,
  trx: Db,
  org: OrgId,
  { conversationIds, createdIds, toEvaluate, changedOtherwise }: Stored,
): Promise<void> => {
  const unaffected = new Set(changedOtherwise)
  const affected = conversationIds.filter((id) => !unaffected.has(id))
  const isNew = new Set(createdIds)
  const changed = affected.filter((id) => !isNew.has(id))
  if (changed.length > 0) await deleteEmbeddings(trx, org, changed)
  if (!config.embeddings) {
    // If embeddings are enabled later, this makes the background job find these conversations.
    if (affected.length > 0) await deleteProgress(trx, org)
    return
  }
  const completed = new Set(toEvaluate)
  const others = affected.filter((id) => !completed.has(id))
  const failed = others.length > 0 ? await listFailed(trx, org, others) : []
  const waiting = [...toEvaluate, ...failed]
  if (waiting.length === 0) return
  await insertWaiting(trx, org, waiting)
  await enqueueNew({ jobs }, trx, org)
}

/** Returns the organization's progress with a model. */
const openProgress = async ({ db }: Deps, org: OrgId, model: number, attempt: Attempt): Promise<Progress> => {
  const stored = await findProgress(db, org)
  if (stored?.model === model) return stored
  await attempt.transaction((trx) => insertProgress(trx, org, model))
  return { model, startedAt: null, conversationId: null, isDone: false }
}

type Slice = { attempt: Attempt; endsAt: number }

/** Embeds conversations until the time is up. If some remain, returns the last embedded one. */
const embedUntil = async (deps: Deps, org: OrgId, waiting: string[], { attempt, endsAt }: Slice) => {
  const batches = batchesOf(waiting, batchSize)
  for (const [at, ids] of batches.entries()) {
    await embedBatch(deps, org, ids, attempt)
    if (at < batches.length - 1 && performance.now() >= endsAt) return ids.at(-1)
  }
  return undefined
}

/**
 * Embeds the next page of conversations, or only its beginning if the time is up. Returns the progress, or undefined if
 * the organization has to start again.
 */
const embedPage = async (deps: Deps, org: OrgId, progress: Progress, slice: Slice) => {
  const page = await listNextOlder(deps.database.dbOf(org), org, progress, pageSize)
  const waiting = page.filter(({ isWaiting }) => isWaiting).map(({ id }) => id)
  const stoppedAt = await embedUntil(deps, org, waiting, slice)
  const last = stoppedAt === undefined ? page.at(-1) : page.find(({ id }) => id === stoppedAt)
  const next: Progress = {
    model: progress.model,
    startedAt: last?.startedAt ?? progress.startedAt,
    conversationId: last?.id ?? progress.conversationId,
    isDone: stoppedAt === undefined && page.length < pageSize,
  }
  return (await slice.attempt.transaction((trx) => updateProgress(trx, org, next))) ? next : undefined
}

const embedSlice = async (deps: Deps, org: OrgId, attempt: Attempt): Promise<void> => {
  const endsAt = performance.now() + sliceMs
  const { number } = await findCurrentModel(deps.db, org)
  let progress: Progress | undefined = await openProgress(deps, org, number, attempt)
  try {
    while (progress && !progress.isDone && performance.now() < endsAt) {
      progress = await embedPage(deps, org, progress, { attempt, endsAt })
    }
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    // The schedule retries later.
    deps.log.warn({ organizationId: org, reason: error.message }, 'embedding conversations has to wait')
    return
  }
  if (progress?.isDone) return
  await attempt.finish((trx) => deps.jobs.enqueue(trx, embedOlder, { organizationId: org }, { singletonKey }))
}

/** Lists the organizations that may have conversations to embed. */
const listUnfinished = async ({ db }: Deps): Promise<OrgId[]> => {
  const done = new Map((await listDoneAllOrgs(db)).map(({ id, model }) => [id, model]))
  const unfinished: OrgId[] = []
  for (const { id, name } of await listModelNamesAllOrgs(db)) {
    const model = done.get(id)
    const current = model === undefined || name === null ? builtIn : await findModelNumber(db, id, name)
    if (model === undefined || model !== current) unfinished.push(id)
  }
  return unfinished
}

const enqueuedAtOnce = 500

/** Embeds stored conversations that the current model has not embedded yet. Each organization has its own job. */
export const embedOlder = defineJob({
  name: 'embeddings.embed-older',
  payload: Type.Object({ organizationId: Type.Optional(OrganizationId) }),
  schedule: '* * * * *',
  concurrency: 2,
  timeoutSeconds: 15 * 60,
  run: async (deps: Deps, { organizationId }, attempt): Promise<void> => {
    if (!deps.config.embeddings) return
    if (organizationId !== undefined) return embedSlice(deps, organizationId, attempt)
    for (const some of batchesOf(await listUnfinished(deps), enqueuedAtOnce)) {
      const payloads = some.map((id) => ({ organizationId: id }))
      await attempt.transaction((trx) => deps.jobs.enqueueMany(trx, embedOlder, payloads, { singletonKey }))
    }
  },
})
