// Manages the redaction of a recording. It waits for the complete transcript, and ends in one of these ways: the redacted
// file is served, the recording is refused with a reason, or it is served as it is because nothing has to be redacted
// anymore.

import { readSpokenTimes } from '../../conversations/ingest/tasks.ts'
import { deleteFilesOf, publishConversation } from '../../conversations/recordings/jobs.ts'
import {
  type findRecording,
  getRecordingSettings,
  lockRecordedConversation,
  lockRecording,
  moveFile,
  type RedactedSpan,
  type StoredFile,
  storeRedacted,
  updateRecordingState,
} from '../../conversations/recordings/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { minuteMs } from '../../platform/durations.ts'
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
  /** Nothing is known to be redacted beyond what already is, or the organization does not redact anymore. */
  | { kind: 'unchanged' }
  | { kind: 'refused'; reason: string }
  | { kind: 'redacted'; spans: RedactedSpan[]; file: StoredFile }

/** Writing the file is stopped after this time. */
const longestMs = 5 * minuteMs

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
  const timeout = AbortSignal.timeout(longestMs)
  try {
    const file = await redactFile(deps, org, order, AbortSignal.any([signal, timeout]))
    return { kind: 'redacted', spans: order.spans, file }
  } catch (error) {
    if (timeout.aborted) return refused('Redacting it takes too long.')
    if (!(error instanceof Undecodable)) throw error
    return refused(error.message)
  }
}

type Source = { recording: Recording; fileKey: string; sound: StoredSound | undefined }

/** Returns the outcome, or undefined if the recording waits for its transcript. */
const redact = async (
  deps: Deps,
  { organizationId: org, conversationId }: SoundOf,
  { recording, fileKey, sound }: Source,
  signal: AbortSignal,
): Promise<{ outcome: Outcome; transcript: TranscriptState } | undefined> => {
  const { redaction } = await getRecordingSettings(deps.db, org)
  const transcript = await findTranscript(deps.db, org, conversationId)
  if (!transcript) return undefined
  const ending = (outcome: Outcome) => ({ outcome, transcript })
  if (redaction === 'none') return ending({ kind: 'unchanged' })
  const { content, format, startedAt, status } = transcript
  if (content === null || status === 'in_progress') return undefined
  if (format === null) return ending(refused('The transcript can’t be read.'))
  const { measured, reason } = sound ?? (await measureStored(deps, org, fileKey, signal))
  if (!measured) return ending(refused(reason ?? ''))
  const times = await readSpokenTimes(deps.threads, org, { content, hints: { provider: format, startedAt } })
  const before = recording.redactedSpans ?? []
  // Measures come from this service.
  const plan = planRedaction(times, measured as MeasuredFile, before)
  if ('refused' in plan) return ending(refused(plan.refused))
  const { spans } = plan
  if (recording.blobKey !== null && areWithin(spans, before)) return ending({ kind: 'unchanged' })
  const source = recording.originalKey ?? fileKey
  return ending(await write(deps, org, { fileKey: source, spans, sound: redaction }, signal))
}

/** Serves the file that exists: a redacted one, or the original if the organization does not redact anymore. */
const serve = async (trx: Db, org: OrgId, { conversationId, blobKey, originalKey }: Recording): Promise<void> => {
  if (blobKey === null) await moveFile(trx, org, conversationId, { blobKey: originalKey, originalKey: null })
  await updateRecordingState(trx, org, conversationId, { status: 'stored' })
}

/** Keeps only one file, which nobody can open. If there was a redacted one, it no longer suffices. */
const refuse = async (deps: Deps, trx: Db, org: OrgId, recording: Recording, failure: string): Promise<void> => {
  const { conversationId, blobKey, originalKey } = recording
  if (blobKey !== null) {
    const keptKey = originalKey ?? blobKey
    await moveFile(trx, org, conversationId, { blobKey: null, originalKey: keptKey })
    await moveSound(trx, org, conversationId, { from: blobKey, to: keptKey })
    if (originalKey !== null) await deleteFilesOf(deps, trx, org, { blobKey, originalKey: null })
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
  const { sealsOriginals } = await getRecordingSettings(trx, org)
  const sealedKey = sealsOriginals ? originalKey : null
  await storeRedacted(trx, org, conversationId, { ...file, spans, originalKey: sealedKey })
  if (fileKey !== null) await moveSound(trx, org, conversationId, { from: fileKey, to: file.blobKey })
  await deleteFilesOf(deps, trx, org, { blobKey, originalKey: sealedKey === null ? originalKey : null })
}

const isSame = (a: TranscriptState | undefined, b: TranscriptState): boolean =>
  a?.contentHash === b.contentHash && a.status === b.status

/** Stores the outcome. Returns false if the recording or its transcript has changed, which another job follows. */
const settleOutcome = async (
  deps: Deps,
  trx: Db,
  { organizationId: org, conversationId }: SoundOf,
  { before, outcome, transcript }: { before: Recording; outcome: Outcome; transcript: TranscriptState },
): Promise<boolean> => {
  if (!(await lockRecordedConversation(trx, org, conversationId))) return false
  const recording = await lockRecording(trx, org, conversationId)
  if (recording?.status !== 'processing') return false
  if (recording.blobKey !== before.blobKey || recording.originalKey !== before.originalKey) return false
  if (!isSame(await findTranscriptState(trx, org, conversationId), transcript)) return false
  if (outcome.kind === 'unchanged') await serve(trx, org, recording)
  else if (outcome.kind === 'refused') await refuse(deps, trx, org, recording, outcome.reason)
  else await replace(deps, trx, org, recording, outcome)
  await publishConversation(trx, org, conversationId)
  // Judges that hear recordings wait for this one.
  await deps.reactions.soundSettled(trx, org, { conversationIds: [conversationId] })
  return true
}

type Attempt = { signal: AbortSignal; finish: (effect: (trx: Db) => Promise<void>) => Promise<void> }

/** Redacts a recording once. Until its outcome is committed, nothing of it is served. */
export const redactRecording = async (deps: Deps, of: SoundOf, source: Source, attempt: Attempt): Promise<void> => {
  const redacted = await redact(deps, of, source, attempt.signal)
  if (!redacted) return
  await attempt.finish(async (trx) => {
    const isSettled = await settleOutcome(deps, trx, of, { before: source.recording, ...redacted })
    const { outcome } = redacted
    if (!isSettled && outcome.kind === 'redacted') {
      await deleteFilesOf(deps, trx, of.organizationId, { blobKey: outcome.file.blobKey, originalKey: null })
    }
  })
}
