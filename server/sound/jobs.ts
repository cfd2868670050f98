import Type from 'typebox'
import {
  findRecording,
  lockRecordedConversation,
  lockRecording,
  withdrawRedacted,
} from '../conversations/recordings/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import { batchesOf } from '../platform/batches.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { minuteMs } from '../platform/durations.ts'
import { attemptEach, eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { currentTime, defineSweep } from '../platform/jobs/define-sweep.ts'
import { measureStored } from './measure-stored.ts'
import {
  clearMeasures,
  findSound,
  listUnsettled,
  listUnsettledOrganizationsAllOrgs,
  type StoredSound,
} from './queries.ts'
import { type Recording, redactRecording } from './redaction/lifecycle.ts'
import { isSoundOf, type SoundOf, settle, settleWithout, storeOutcome } from './settle.ts'

type Store = (effect: (trx: Db) => Promise<void>) => Promise<void>

/**
 * Measures the file of a recording, unless it is measured already or the organization doesn't measure recordings.
 * Returns the measures.
 */
const measureOnce = async (
  deps: Deps,
  of: SoundOf,
  { measuredKey, fileKey, redactedSpans }: Recording & { fileKey: string },
  { signal, store }: { signal: AbortSignal; store: Store },
): Promise<StoredSound | undefined> => {
  const { db } = deps
  const before = await findSound(db, of.organizationId, of.conversationId)
  const found = before?.blobKey === fileKey ? before : undefined
  // A redacted file is never measured, because the measures would describe its silence.
  if (measuredKey === fileKey || redactedSpans !== null) return found
  if (!(await getOrganization(db, of.organizationId)).measureSound) {
    await store((trx) => settleWithout(deps, trx, of))
    return undefined
  }
  const { organizationId: org, conversationId } = of
  const sound = found ?? (await measureStored(deps, org, { conversationId, fileKey }, signal))
  await store((trx) => storeOutcome(deps, trx, of, sound))
  return sound
}

type Writing = { jobId: string; signal: AbortSignal; transaction: Store; finish: Store }

/** Measures a recording, and then redacts it if that is needed before it is served. */
const processOnce = async (deps: Deps, of: SoundOf, { jobId, signal, transaction, finish }: Writing): Promise<void> => {
  const recording = await findRecording(deps.db, of.organizationId, of.conversationId)
  if (!recording || recording.fileKey === null) return
  const { fileKey } = recording
  const redacts = recording.status === 'processing'
  const sound = await measureOnce(
    deps,
    of,
    { ...recording, fileKey },
    { signal, store: redacts ? transaction : finish },
  )
  if (redacts) await redactRecording(deps, of, { recording, fileKey, sound }, { jobId, signal, finish })
}

/** Measures and redacts a recording after it is stored. If this fails, `measureOlder` tries again later. */
export const measureSound = defineJob({
  name: 'sound.measure',
  payload: Type.Object({ organizationId: OrganizationId, conversationId: Type.String() }),
  retryLimit: 3,
  retryDelaySeconds: 30,
  timeoutSeconds: 15 * 60,
  concurrency: 2,
  run: processOnce,
})

/** The number of conversations in a job. */
const batchSize = 100

/** Derives measures again after transcripts have changed, because transcripts show who speaks on which channel. */
export const deriveMeasures = defineJob({
  name: 'sound.derive',
  payload: Type.Object({ organizationId: OrganizationId, conversationIds: Type.Array(Type.String()) }),
  run: async (deps: Deps, { organizationId: org, conversationIds }, attempt) => {
    await attemptEach(attempt, conversationIds, (id) =>
      attempt.transaction(async (trx) => {
        if (!(await lockRecordedConversation(trx, org, id))) return
        const recording = await lockRecording(trx, org, id)
        const sound = await findSound(trx, org, id)
        // Another recording is measured by its own job, which also derives the measures.
        if (sound && recording && isSoundOf(recording, sound)) await settle(deps, trx, org, id, sound)
      }),
    )
  },
})

/**
 * Clears the measures of changed transcripts, and enqueues a job that derives them again, in the same transaction as
 * the change.
 */
export const deriveMeasuresAgain = async (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { toEvaluate, createdIds }: { toEvaluate: string[]; createdIds: string[] },
): Promise<void> => {
  const isNew = new Set(createdIds)
  const changed = toEvaluate.filter((id) => !isNew.has(id))
  if (changed.length === 0) return
  const cleared = await clearMeasures(trx, org, changed)
  const payloads = batchesOf(cleared, batchSize).map((conversationIds) => ({ organizationId: org, conversationIds }))
  await jobs.enqueueMany(trx, deriveMeasures, payloads)
}

/**
 * Withdraws the redacted recordings of changed transcripts, because other words may need redaction now, and enqueues a
 * job that redacts them again. Also enqueues the redaction of recordings that waited for their transcript.
 */
export const redactAgain = async (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  {
    conversationIds,
    createdIds,
    changedOtherwise,
  }: Record<'conversationIds' | 'createdIds' | 'changedOtherwise', string[]>,
): Promise<void> => {
  const unaffected = new Set([...createdIds, ...changedOtherwise])
  const changed = conversationIds.filter((id) => !unaffected.has(id))
  const withdrawn = await withdrawRedacted(trx, org, changed)
  const payloads = withdrawn.map((conversationId) => ({ organizationId: org, conversationId }))
  await jobs.enqueueMany(trx, measureSound, payloads)
}

const listedAtOnce = 100
/** Newer recordings have their own jobs. */
const olderThanMs = 30 * minuteMs
const before = (now: Date) => new Date(now.getTime() - olderThanMs)

/** Measures and redacts recordings after a failure. Also measures recordings from before Earshot measured sound. */
export const measureOlder = defineSweep({
  name: 'sound.measure-older',
  schedule: '*/10 * * * *',
  time: currentTime,
  concurrency: 1,
  timeoutSeconds: 15 * 60,
  listOrganizations: ({ db }: Deps, now) => listUnsettledOrganizationsAllOrgs(db, before(now)),
  listItems: ({ db }, { org, now, after }) =>
    eachOfPages(listedAtOnce, (page) => listUnsettled(db, org, before(now), page), after),
  sweepItem: (deps, { id }, { org, attempt }) =>
    processOnce(
      deps,
      { organizationId: org, conversationId: id },
      {
        jobId: attempt.jobId,
        signal: attempt.signal,
        transaction: attempt.transaction,
        finish: attempt.transaction,
      },
    ),
})

/** Enqueues a job that measures the recording stored in the transaction. */
export const measureSoundLater = (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { conversationId }: { conversationId: string },
): Promise<unknown> => jobs.enqueue(trx, measureSound, { organizationId: org, conversationId }, { org })
