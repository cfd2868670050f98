// Manages how a recording is processed before it is served. The process waits for the complete transcript, and ends in
// one of four ways: Earshot serves the redacted file, refuses the recording with a reason, serves the original because
// it need not be redacted, or deletes the recording because its agent doesn't keep recordings.

import { readSpokenTimes } from '../../conversations/ingest/tasks.ts'
import { deleteFilesOf, publishConversation, recordingKind } from '../../conversations/recordings/jobs.ts'
import {
  type findRecording,
  findRecordingSettings,
  forgetFiles,
  getRecordingSettings,
  lockRecordedConversation,
  lockRecording,
  moveFile,
  type RedactedSpan,
  type StoredFile,
  storeRedacted,
  updateRecordingState,
} from '../../conversations/recordings/queries.ts'
import { recordServiceAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { newId } from '../../platform/ids.ts'
import { Undecodable } from '../decoding/decode.ts'
import type { MeasuredFile } from '../measure-file.ts'
import { measureStored } from '../measure-stored.ts'
import { moveSound, type StoredSound } from '../queries.ts'
import type { SoundOf } from '../settle.ts'
import { areWithin, planRedaction } from './plan.ts'
import { findTranscript, findTranscriptState, type TranscriptState } from './queries.ts'
import { redactFile } from './redact-file.ts'

export type Recording = NonNullable<Awaited<ReturnType<typeof findRecording>>>

type Outcome =
  /** Either there is nothing more to redact, or the organization no longer redacts recordings. */
  | { kind: 'unchanged' }
  /** `file` is a copy of the file that was served until now. Existing links don't open the copy. */
  | { kind: 'refused'; reason: string; file?: StoredFile }
  /** The agent doesn't keep recordings. */
  | { kind: 'deleted' }
  | { kind: 'redacted'; spans: RedactedSpan[]; file: StoredFile }

const refused = (reason: string): Outcome => ({
  kind: 'refused',
  reason: `It can’t be redacted. ${reason}`,
})

const write = async (
  deps: Deps,
  org: OrgId,
  order: Parameters<typeof redactFile>[2],
  signal: AbortSignal,
): Promise<Outcome> => {
  try {
    const file = await redactFile(deps, org, order, signal)
    return { kind: 'redacted', spans: order.spans, file }
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    return refused(error.message)
  }
}

type Source = { recording: Recording; fileKey: string; sound: StoredSound | undefined }

/** Copies the served file of a recording that is refused, unless its sealed original is kept anyway. */
const withCopy = async (
  { blobs }: Pick<Deps, 'blobs'>,
  org: OrgId,
  { blobKey, originalKey, contentType }: Recording,
  outcome: Outcome,
): Promise<Outcome> => {
  if (outcome.kind !== 'refused' || blobKey === null || originalKey !== null || contentType === null) return outcome
  const content = await blobs.get(blobKey)
  if (!content) throw new Error('The file of the recording is missing')
  const copyKey = `${org}/${recordingKind}/${newId()}`
  const { bytes } = await blobs.put(copyKey, content.stream, { contentType })
  return { ...outcome, file: { blobKey: copyKey, contentType, bytes } }
}

type Settings = Awaited<ReturnType<typeof getRecordingSettings>>
type Transcript = NonNullable<Awaited<ReturnType<typeof findTranscript>>>

/** Returns an outcome that doesn't depend on the sound, or `wait` if the transcript is not complete. */
const decide = (
  { redaction, keep }: Settings,
  { content, format, status }: Transcript,
): Outcome | 'wait' | undefined => {
  if (keep === 'transcript_only' || keep === 'nothing') return { kind: 'deleted' }
  if (redaction === 'none') return { kind: 'unchanged' }
  if (content === null || status === 'in_progress') return 'wait'
  return format === null ? refused('The transcript can’t be read.') : undefined
}

/**
 * Returns whether the file is the original of a recording that was redacted once, and then refused. Redacted content
 * stays redacted, even if the organization no longer redacts, so this file is never served.
 */
const isOnlyOriginal = ({ blobKey, redactedSpans }: Pick<Recording, 'blobKey' | 'redactedSpans'>): boolean =>
  blobKey === null && redactedSpans !== null

const readTimes = ({ threads }: Pick<Deps, 'threads'>, org: OrgId, { content, format, startedAt }: Transcript) => {
  const hints = { ...(format !== null && { provider: format }), startedAt }
  return readSpokenTimes(threads, org, { content: content ?? 'null', hints })
}

/** Earlier spans are muted if the organization no longer redacts. */
const soundOf = ({ redaction }: Settings): 'mute' | 'beep' => (redaction === 'beep' ? 'beep' : 'mute')

/** Returns the outcome, or undefined if the recording waits for its transcript. */
const redact = async (
  deps: Deps,
  { organizationId: org, conversationId }: SoundOf,
  { recording, fileKey, sound }: Source,
  signal: AbortSignal,
): Promise<{ outcome: Outcome; transcript: TranscriptState } | undefined> => {
  const settings = await findRecordingSettings(deps.db, org, conversationId).executeTakeFirst()
  const transcript = await findTranscript(deps.db, org, conversationId)
  if (!settings || !transcript) return undefined
  const ending = (outcome: Outcome) => ({ outcome, transcript })
  const decided = decide(settings, transcript)
  if (decided === 'wait') return undefined
  const before = recording.redactedSpans ?? []
  const source = { fileKey: recording.originalKey ?? fileKey, sound: soundOf(settings) }
  if (decided?.kind === 'unchanged' && isOnlyOriginal(recording)) {
    return ending(await write(deps, org, { ...source, spans: before }, signal))
  }
  if (decided) return ending(decided)
  const { measured, reason } = sound ?? (await measureStored(deps, org, { conversationId, fileKey }, signal))
  if (!measured) return ending(refused(reason ?? ''))
  const times = await readTimes(deps, org, transcript)
  // The measures come from this service.
  const plan = planRedaction(times, measured as MeasuredFile, before)
  if ('refused' in plan) return ending(refused(plan.refused))
  const { spans } = plan
  if (recording.blobKey !== null && areWithin(spans, before)) return ending({ kind: 'unchanged' })
  return ending(await write(deps, org, { ...source, spans }, signal))
}

/** Serves the existing file: the redacted one, or the original if the organization no longer redacts recordings. */
const serve = async (trx: Db, org: OrgId, recording: Recording): Promise<void> => {
  const { conversationId, blobKey, originalKey } = recording
  if (isOnlyOriginal(recording)) throw new Error('The original of a redacted recording is never served')
  if (blobKey === null) await moveFile(trx, org, conversationId, { blobKey: originalKey, originalKey: null })
  await updateRecordingState(trx, org, conversationId, { status: 'stored' })
}

/** Deletes all files, but keeps the measures. */
const drop = async (deps: Deps, trx: Db, org: OrgId, recording: Recording, jobId: string): Promise<void> => {
  await forgetFiles(trx, org, recording.conversationId)
  await deleteFilesOf(deps, trx, org, recording)
  const job = { kind: 'service', keyId: null, requestId: jobId } as const
  await recordServiceAudit(trx, org, job, 'conversation.deleteRecording', {
    type: 'conversation',
    id: recording.conversationId,
  })
}

/**
 * Keeps only one file, which nobody can open. If there was a redacted file, it is no longer sufficient, so its links
 * are revoked.
 */
const refuse = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { conversationId, blobKey, originalKey }: Recording,
  { reason: failure, file }: Extract<Outcome, { kind: 'refused' }>,
): Promise<void> => {
  const keptKey = originalKey ?? file?.blobKey
  if (blobKey !== null && keptKey !== undefined) {
    await moveFile(trx, org, conversationId, { blobKey: null, originalKey: keptKey })
    await moveSound(trx, org, conversationId, { from: blobKey, to: keptKey })
    await deleteFilesOf(deps, trx, org, { blobKey, originalKey: null })
  }
  await updateRecordingState(trx, org, conversationId, { status: 'failed', failure })
}

const replace = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { conversationId, blobKey, originalKey, fileKey }: Recording,
  { file, spans }: Extract<Outcome, { kind: 'redacted' }>,
): Promise<void> => {
  const { sealsOriginals } = await getRecordingSettings(trx, org, conversationId)
  const sealedKey = sealsOriginals ? originalKey : null
  await storeRedacted(trx, org, conversationId, { ...file, spans, originalKey: sealedKey })
  if (fileKey !== null) await moveSound(trx, org, conversationId, { from: fileKey, to: file.blobKey })
  await deleteFilesOf(deps, trx, org, { blobKey, originalKey: sealedKey === null ? originalKey : null })
}

const isSame = (a: TranscriptState | undefined, b: TranscriptState): boolean =>
  a?.contentHash === b.contentHash && a.status === b.status

type Ending = { before: Recording; outcome: Outcome; transcript: TranscriptState; jobId: string }

/**
 * Stores the outcome. Returns false if the recording or its transcript has changed, in which case another job follows.
 */
const settleOutcome = async (
  deps: Deps,
  trx: Db,
  { organizationId: org, conversationId }: SoundOf,
  { before, outcome, transcript, jobId }: Ending,
): Promise<boolean> => {
  if (!(await lockRecordedConversation(trx, org, conversationId))) return false
  const recording = await lockRecording(trx, org, conversationId)
  if (recording?.status !== 'processing') return false
  if (recording.blobKey !== before.blobKey || recording.originalKey !== before.originalKey) return false
  if (!isSame(await findTranscriptState(trx, org, conversationId), transcript)) return false
  if (outcome.kind === 'unchanged') await serve(trx, org, recording)
  else if (outcome.kind === 'deleted') await drop(deps, trx, org, recording, jobId)
  else if (outcome.kind === 'refused') await refuse(deps, trx, org, recording, outcome)
  else await replace(deps, trx, org, recording, outcome)
  await publishConversation(trx, org, conversationId)
  // Judges that listen to recordings wait for this event.
  await deps.reactions.soundSettled(trx, org, { conversationIds: [conversationId] })
  return true
}

type Attempt = { jobId: string; signal: AbortSignal; finish: (effect: (trx: Db) => Promise<void>) => Promise<void> }

/** Redacts a recording once. No file is served until the outcome is committed. */
export const redactRecording = async (deps: Deps, of: SoundOf, source: Source, attempt: Attempt): Promise<void> => {
  const { organizationId: org } = of
  const { recording } = source
  const redacted = await redact(deps, of, source, attempt.signal)
  if (!redacted) return
  const { transcript } = redacted
  const outcome = await withCopy(deps, org, recording, redacted.outcome)
  await attempt.finish(async (trx) => {
    const isSettled = await settleOutcome(deps, trx, of, {
      before: recording,
      outcome,
      transcript,
      jobId: attempt.jobId,
    })
    if (!isSettled && 'file' in outcome && outcome.file) {
      await deleteFilesOf(deps, trx, org, { blobKey: outcome.file.blobKey, originalKey: null })
    }
  })
}
