import Type from 'typebox'
import { findRecording, lockRecordedConversation, lockRecording } from '../conversations/recordings/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import { batchesOf } from '../platform/batches.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { minuteMs } from '../platform/durations.ts'
import { attemptEach, eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { currentTime, defineSweep } from '../platform/jobs/define-sweep.ts'
import { measureStored } from './measure-stored.ts'
import { clearMeasures, findSound, listUnmeasured, listUnmeasuredOrganizationsAllOrgs } from './queries.ts'
import { type SoundOf, settle, settleWithout, storeOutcome } from './settle.ts'

/** Measures a stored recording, unless that is done already, or the organization does not measure any. */
const measureOnce = async (
  deps: Deps,
  of: SoundOf,
  signal: AbortSignal,
  store: (effect: (trx: Db) => Promise<void>) => Promise<void>,
): Promise<void> => {
  const { db } = deps
  const recording = await findRecording(db, of.organizationId, of.conversationId)
  if (recording?.status !== 'stored' || recording.blobKey === null) return
  if (recording.measuredKey === recording.blobKey) return
  if (!(await getOrganization(db, of.organizationId)).measureSound) return store((trx) => settleWithout(deps, trx, of))
  const before = await findSound(db, of.organizationId, of.conversationId)
  const isMeasured = before?.blobKey === recording.blobKey
  const sound = isMeasured ? before : await measureStored(deps, of.organizationId, recording.blobKey, signal)
  await store((trx) => storeOutcome(deps, trx, of, sound))
}

/** Measures the sound of a recording after it was stored. If this fails, `measureOlder` tries again later. */
export const measureSound = defineJob({
  name: 'sound.measure',
  payload: Type.Object({ organizationId: OrganizationId, conversationId: Type.String() }),
  retryLimit: 3,
  retryDelaySeconds: 30,
  timeoutSeconds: 15 * 60,
  concurrency: 2,
  run: (deps: Deps, of, attempt) => measureOnce(deps, of, attempt.signal, attempt.finish),
})

/** The number of conversations in a job. */
const batchSize = 100

/** Derives measures again after transcripts changed, which say who speaks on which channel. */
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
        if (sound && sound.blobKey === recording?.blobKey) await settle(deps, trx, org, id, sound)
      }),
    )
  },
})

/** Clears measures of changed transcripts, and enqueues deriving them again, in the transaction of the change. */
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

const listedAtOnce = 100
/** Newer recordings have their own job. */
const olderThanMs = 30 * minuteMs
const before = (now: Date) => new Date(now.getTime() - olderThanMs)

/** Measures recordings that were stored before Earshot measured any, or while measuring failed. */
export const measureOlder = defineSweep({
  name: 'sound.measure-older',
  schedule: '*/10 * * * *',
  time: currentTime,
  concurrency: 1,
  timeoutSeconds: 15 * 60,
  listOrganizations: ({ db }: Deps, now) => listUnmeasuredOrganizationsAllOrgs(db, before(now)),
  listItems: ({ db }, { org, now, after }) =>
    eachOfPages(listedAtOnce, (page) => listUnmeasured(db, org, before(now), page), after),
  sweepItem: (deps, { id }, { org, attempt }) =>
    measureOnce(deps, { organizationId: org, conversationId: id }, attempt.signal, attempt.transaction),
})

/** Enqueues measuring the recording that the transaction has stored. */
export const measureSoundLater = (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { conversationId }: { conversationId: string },
): Promise<unknown> => jobs.enqueue(trx, measureSound, { organizationId: org, conversationId }, { org })
