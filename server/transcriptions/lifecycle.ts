// Manages the lifecycle of a transcription. The events that complete a recording start it, or a run does. Its job
// transcribes the recording. The transcription ends as completed, failed, or cancelled.

import Type from 'typebox'
import { soundSettingsOf } from '../agents/sound-settings.ts'
import { storeTranscription } from '../conversations/ingest/store-transcription.ts'
import { getTranscript } from '../conversations/queries.ts'
import { findRecording, lockRecordedConversation } from '../conversations/recordings/queries.ts'
import type { ModelTranscription } from '../model-providers/models.ts'
import { EndpointError, isNotSentYet } from '../model-providers/requests/endpoint-error.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { type Attempt, defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { Undecodable } from '../sound/decoding/decode.ts'
import { whySoundStays } from '../sound/may-send.ts'
import type { MeasuredFile } from '../sound/measure-file.ts'
import { findSound } from '../sound/queries.ts'
import { readSound } from '../sound/read-sound.ts'
import type { TranscriptionDeps } from './deps.ts'
import { assembleTurns, type RoleOf } from './made-turns.ts'
import { planParts } from './plan.ts'
import {
  adoptPending,
  deleteParts,
  deletePendingOfRun,
  deleteTranscription,
  findTranscription,
  insertTranscriptions,
  listUntranscribed,
  lockPending,
  type StoredTranscription,
  updateTranscription,
} from './queries.ts'
import { Ended, transcribeParts } from './transcribe-recording.ts'

type StartDeps = Pick<Deps, 'jobs' | 'clock'>

/** Providers usually send their own transcript within this time, so that no transcription has to be paid for. */
const waitForTranscriptSeconds = 120

type Start = { conversationIds: string[]; runId?: string }

/**
 * Starts the transcription of conversations that have a measured recording and a model, but no transcript. Returns how
 * many were started. A run also restarts transcriptions that failed.
 */
export const startTranscriptions = async (
  { jobs, clock }: StartDeps,
  trx: Db,
  org: OrgId,
  { conversationIds, runId }: Start,
): Promise<number> => {
  const untranscribed = await listUntranscribed(trx, org, conversationIds)
  if (untranscribed.length === 0) return 0
  const settings = await soundSettingsOf(trx, org, [...new Set(untranscribed.map(({ agentId }) => agentId))])
  const given = untranscribed.flatMap(({ id, agentId, blobKey }) => {
    const model = settings.get(agentId)?.transcriptionModel
    return model ? [{ conversationId: id, model, blobKey }] : []
  })
  if (given.length === 0) return 0
  const retry = runId !== undefined
  const now = clock.now()
  const started = await insertTranscriptions(trx, org, given, { runId: runId ?? null, retry, now })
  if (runId !== undefined) {
    // The measurement of the recording has already started the transcription.
    const others = given.map(({ conversationId }) => conversationId)
    await adoptPending(trx, org, others, runId)
  }
  for (const conversationId of started) {
    const payload = { organizationId: org, conversationId, startedAt: now.toISOString(), round: 1 }
    const options = retry ? { priority: -1 } : { afterSeconds: waitForTranscriptSeconds }
    await jobs.enqueue(trx, transcribe, payload, options)
  }
  return started.length
}

/** Starts transcriptions after recordings were measured. */
export const transcribeMeasured = (
  deps: StartDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<number> => startTranscriptions(deps, trx, org, { conversationIds })

/** Starts transcriptions after conversations ended. New conversations have no recording yet. */
export const transcribeEnded = async (
  deps: StartDeps,
  trx: Db,
  org: OrgId,
  { toEvaluate, createdIds }: { toEvaluate: string[]; createdIds: string[] },
): Promise<void> => {
  const isNew = new Set(createdIds)
  const conversationIds = toEvaluate.filter((id) => !isNew.has(id))
  if (conversationIds.length > 0) await startTranscriptions(deps, trx, org, { conversationIds })
}

/** Cancels the pending transcriptions of a run. Returns how many there were. */
export const cancelTranscriptions = async (trx: Db, org: OrgId, runId: string): Promise<number> =>
  (await deletePendingOfRun(trx, org, runId)).length

/** `startedAt` tells a transcription from one that was cancelled, and is undefined in jobs of earlier versions. */
type Of = { organizationId: OrgId; conversationId: string; startedAt?: string }

const isOf = ({ createdAt }: Pick<StoredTranscription, 'createdAt'>, { startedAt }: Pick<Of, 'startedAt'>): boolean =>
  startedAt === undefined || createdAt.toISOString() === startedAt

/** Locks the pending transcription that a job is about, and returns undefined if there is none. */
const lockOwn = async (trx: Db, of: Of): Promise<StoredTranscription | undefined> => {
  const pending = await lockPending(trx, of.organizationId, of.conversationId)
  return pending && isOf(pending, of) ? pending : undefined
}

/** A user-facing reason why a recording can't be transcribed. Retrying won't help. */
class Untranscribable extends Error {}

const publish = (trx: Db, { organizationId: org, conversationId }: Of) =>
  publishChanges(trx, org, { resource: 'conversations', kind: 'updated', ids: [conversationId] })

const fail = async ({ clock }: Pick<Deps, 'clock'>, trx: Db, of: Of, failure: string): Promise<void> => {
  const { organizationId: org, conversationId } = of
  if (!(await lockOwn(trx, of))) return
  await updateTranscription(trx, org, conversationId, { status: 'failed', failure, endedAt: clock.now() })
  await publish(trx, of)
}

const findModel = async (
  { models }: TranscriptionDeps,
  org: OrgId,
  name: string,
): Promise<{ model: ModelTranscription; evaluator: string }> => {
  const chain = await models.find(org, name)
  if ('fault' in chain) throw new Untranscribable(chain.fault)
  const [{ transcription: model, evaluator }] = chain.links
  // If the provider is disabled, the first model comes from a fallback.
  if (model && chain.key === model.name) return { model, evaluator }
  throw new Untranscribable('The model provider is disabled, or cannot transcribe recordings. Choose another model.')
}

/** Returns the measured recording, or undefined if there is currently none. */
const findMeasured = async (db: Db, { organizationId: org, conversationId }: Of) => {
  const recording = await findRecording(db, org, conversationId)
  const sound = await findSound(db, org, conversationId)
  return sound && sound.blobKey === recording?.fileKey ? sound : undefined
}

/** The recording was replaced or is gone, or a transcript was sent. */
class Outdated extends Error {}

/** Throws if the recording must not be sent, or no longer needs to be. */
const requireWanted = async (
  { db }: TranscriptionDeps,
  { organizationId: org, conversationId }: Of,
  blobKey: string,
): Promise<void> => {
  const recording = await findRecording(db, org, conversationId)
  if (recording?.fileKey !== blobKey) throw new Outdated()
  const reason = await whySoundStays(db, org, recording.status === 'processing')
  if (reason !== undefined) throw new Untranscribable(reason)
  const { content, transcribedBy } = await getTranscript(db, org, conversationId)
  if (content !== null && transcribedBy === null) throw new Outdated()
}

type Measured = NonNullable<Awaited<ReturnType<typeof findMeasured>>>

/** Returns who speaks on each channel. */
const findRoles = async (
  deps: Deps,
  { organizationId: org, conversationId: id }: Of,
  measured: object,
): Promise<RoleOf> => {
  const { channels, speakers } = await readSound(deps, deps.db, org, { id, measured })
  if (channels !== 2 || speakers.agent === null) return () => 'other'
  return (channel) => (channel === speakers.agent ? 'agent' : 'customer')
}

type Made = { content: object; transcribedBy: string } | 'silent'

const makeTranscript = async (
  deps: TranscriptionDeps,
  attempt: Attempt,
  of: Of,
  { sound, transcription }: { sound: Measured; transcription: StoredTranscription },
): Promise<Made> => {
  const { organizationId: org, conversationId } = of
  await requireWanted(deps, of, sound.blobKey)
  if (!sound.measured) throw new Untranscribable(sound.reason ?? 'The recording can’t be decoded.')
  const { model, evaluator } = await findModel(deps, org, transcription.model)
  // The job stored this value.
  const { channels, durationMs } = sound.measured as MeasuredFile
  const parts = planParts(
    channels.map(({ segments }) => segments),
    { durationMs, isTimed: model.isTimed },
  )
  if (parts.length === 0) return 'silent'
  const subject = {
    org,
    conversationId,
    blobKey: sound.blobKey,
    parts,
    lock: (trx: Db) => lockOwn(trx, of),
    requireWanted: () => requireWanted(deps, of, sound.blobKey),
  }
  const answered = await transcribeParts(deps, attempt, subject, model)
  const turns = assembleTurns(answered, await findRoles(deps, of, sound.measured))
  return turns.length === 0 ? 'silent' : { content: { turns }, transcribedBy: evaluator }
}

const complete = async (deps: TranscriptionDeps, trx: Db, of: Of, made: Made): Promise<void> => {
  const { organizationId: org, conversationId } = of
  // As everywhere, the conversation is locked before the rows that belong to it.
  if (!(await lockRecordedConversation(trx, org, conversationId))) return
  const pending = await lockOwn(trx, of)
  if (!pending) return
  const recording = await findRecording(trx, org, conversationId)
  if (recording?.fileKey !== pending.blobKey) return startAgain(deps, trx, of)
  if (made !== 'silent' && !(await storeTranscription(deps, trx, org, conversationId, made))) {
    await deleteTranscription(trx, org, conversationId)
    return
  }
  await deleteParts(trx, org, conversationId)
  await updateTranscription(trx, org, conversationId, { status: 'completed', endedAt: deps.clock.now() })
  if (made === 'silent') await publish(trx, of)
}

/** The number of retries for an unresponsive endpoint. The pauses add up to two hours. */
const mostRounds = 8
const longestPauseSeconds = 3_600
/** The minimum wait after a request could not be sent. */
const shortestPauseSeconds = 30

/** Schedules a retry, unless retrying won't help. */
const postpone = async (
  deps: TranscriptionDeps,
  trx: Db,
  of: Of,
  { error, round }: { error: EndpointError; round: number },
): Promise<void> => {
  const isFree = isNotSentYet(error)
  if (error.kind === 'refused' || (!isFree && round >= mostRounds)) {
    return fail(deps, trx, of, `The model provider did not transcribe it: ${error.message}.`)
  }
  const pauseSeconds = isFree ? shortestPauseSeconds : 30 * 2 ** round
  const wanted = Math.max(pauseSeconds, Math.ceil(error.retryAfterMs / 1_000))
  const payload = { ...of, round: isFree ? round : round + 1 }
  await deps.jobs.enqueue(trx, transcribe, payload, { afterSeconds: Math.min(longestPauseSeconds, wanted) })
}

/** Ends an outdated transcription. A measured recording without a transcript is transcribed instead. */
const startAgain = async (deps: TranscriptionDeps, trx: Db, of: Of): Promise<void> => {
  const { organizationId: org, conversationId } = of
  if (!(await lockRecordedConversation(trx, org, conversationId))) return
  if (!(await lockOwn(trx, of))) return
  await deleteTranscription(trx, org, conversationId)
  // Otherwise, the measurement of the new recording starts its transcription.
  await startTranscriptions(deps, trx, org, { conversationIds: [conversationId] })
}

const recordOutcome = async (
  deps: TranscriptionDeps,
  attempt: Attempt,
  of: Of,
  { error, round }: { error: unknown; round: number },
): Promise<void> => {
  attempt.signal.throwIfAborted()
  if (error instanceof Ended) return attempt.finish(async () => {})
  if (error instanceof Outdated) return attempt.finish((trx) => startAgain(deps, trx, of))
  if (error instanceof EndpointError) return attempt.finish((trx) => postpone(deps, trx, of, { error, round }))
  const isFinal = error instanceof Untranscribable || error instanceof Undecodable || error instanceof ApiError
  if (!isFinal) throw error
  return attempt.finish((trx) => fail(deps, trx, of, error.message))
}

/** Transcribes a recording. */
export const transcribe = defineJob({
  name: 'conversation.transcribe',
  payload: Type.Object({
    organizationId: OrganizationId,
    conversationId: Type.String(),
    startedAt: Type.Optional(Type.String()),
    /** The number of the attempt, counted from 1. */
    round: Type.Integer(),
  }),
  concurrency: 4,
  retryLimit: 3,
  retryDelaySeconds: 30,
  timeoutSeconds: 60 * 60,
  run: async (deps: TranscriptionDeps, { round, ...of }, attempt) => {
    const { organizationId: org, conversationId } = of
    const transcription = await findTranscription(deps.db, org, conversationId)
    if (transcription?.status !== 'pending' || !isOf(transcription, of)) return attempt.finish(async () => {})
    const sound = await findMeasured(deps.db, of)
    if (!sound || sound.blobKey !== transcription.blobKey) {
      return attempt.finish((trx) => startAgain(deps, trx, of))
    }
    try {
      const made = await makeTranscript(deps, attempt, of, { sound, transcription })
      await attempt.finish((trx) => complete(deps, trx, of, made))
    } catch (error) {
      await recordOutcome(deps, attempt, of, { error, round })
    }
  },
  onFailed: (deps, of, trx) => fail(deps, trx, of, 'Transcribing failed repeatedly. See the log of the service.'),
})
