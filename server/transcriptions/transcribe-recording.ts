// Transcribes a recording in parts. The reply to each request is stored immediately, so that nothing is paid for twice.

import { hash } from 'node:crypto'
import { redactValue } from '../conversations/ingest/tasks.ts'
import { redactsMetrics } from '../conversations/metrics/queries.ts'
import type { ModelTranscription } from '../model-providers/models.ts'
import type { TranscriptionReply } from '../model-providers/requests/dialect.ts'
import { EndpointError } from '../model-providers/requests/endpoint-error.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { addSpending, getSpending } from '../organizations/spending/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import { type ExtractedSound, withSound } from '../sound/extract.ts'
import type { TranscriptionDeps } from './deps.ts'
import { betweenMs, lengthOfPart, type Part } from './plan.ts'
import { insertPart, listParts, type StoredTranscription, updateTranscription } from './queries.ts'

/** The maximum time that a request waits for its turn. After that, it is better to retry the job. */
const patienceMs = 120_000

export type Subject = {
  org: OrgId
  conversationId: string
  blobKey: string
  parts: Part[]
  /** Locks the pending transcription. Returns undefined if it was cancelled. */
  lock: (trx: Db) => Promise<StoredTranscription | undefined>
  /** Throws if the recording must not be sent, or no longer needs to be. */
  requireWanted: () => Promise<void>
}

/** The transcription was cancelled, or the conversation was deleted. */
export class Ended extends Error {}

const keyOf = ({ blobKey }: Subject, { name }: ModelTranscription, { channel, spans }: Part): string =>
  hash('sha256', JSON.stringify([blobKey, name, channel, spans]), 'base64url')

/** Throws if the monthly budget can't cover a request. */
const requireBudget = async (deps: TranscriptionDeps, org: OrgId, cost: number | null): Promise<void> => {
  const { budgetLeft } = await getSpending(deps.db, org, monthOf(deps.clock.now()))
  if (budgetLeft === null || (budgetLeft > 0 && budgetLeft >= (cost ?? 0))) return
  throw new ApiError('conflict', 'The monthly judge budget is used up.')
}

const ask = async (
  deps: TranscriptionDeps,
  {
    subject: { org },
    sound,
    model,
    part,
  }: { subject: Subject; sound: ExtractedSound; model: ModelTranscription; part: Part },
  signal: AbortSignal,
): Promise<TranscriptionReply> => {
  const audio = await sound.readWav(part.channel, part.spans, betweenMs)
  const deadline = deps.clock.now().getTime() + patienceMs
  const terms = { signal, deadline, owner: org, background: true }
  const reply = await model.transcribe(audio, lengthOfPart(part) / 1_000, terms)
  if (!reply) throw new EndpointError('down', 'the endpoint returned no transcript')
  return (await redactsMetrics(deps.db, org)) ? redactValue(deps.threads, org, reply) : reply
}

/** Stores a reply with its cost. Returns whether to continue the transcription. */
const storeReply = (
  deps: TranscriptionDeps,
  attempt: Attempt,
  { org, conversationId, lock }: Subject,
  {
    key,
    reply,
    audioSeconds,
    cost,
  }: { key: string; reply: TranscriptionReply; audioSeconds: number; cost: number | null },
): Promise<boolean> =>
  attempt.transaction(async (trx) => {
    const pending = await lock(trx)
    const spent = { judgements: 0, input: 0, output: 0, cost: cost ?? 0, audioSeconds }
    await addSpending(trx, org, monthOf(deps.clock.now()), spent)
    if (!pending) return false
    await insertPart(trx, org, conversationId, key, reply)
    await updateTranscription(trx, org, conversationId, {
      audioSeconds: pending.audioSeconds + audioSeconds,
      cost: cost === null ? pending.cost : (pending.cost ?? 0) + cost,
    })
    return true
  })

/** Returns the replies for all parts. Only sends requests for those that are not stored yet. */
export const transcribeParts = async (
  deps: TranscriptionDeps,
  attempt: Attempt,
  subject: Subject,
  model: ModelTranscription,
): Promise<[Part, TranscriptionReply][]> => {
  const { org, conversationId, blobKey, parts } = subject
  // Only `storeReply` writes them.
  const stored = new Map(
    (await listParts(deps.db, org, conversationId)).map(({ key, content }) => [key, content as TranscriptionReply]),
  )
  const missing = parts.filter((part) => !stored.has(keyOf(subject, model, part)))
  if (missing.length > 0) {
    await withSound(deps, { owner: org, blobKey }, attempt.signal, async (sound) => {
      for (const part of missing) {
        attempt.signal.throwIfAborted()
        await subject.requireWanted()
        const audioSeconds = lengthOfPart(part) / 1_000
        const cost = model.costOf(audioSeconds)
        await requireBudget(deps, org, cost)
        const reply = await ask(deps, { subject, sound, model, part }, attempt.signal)
        const key = keyOf(subject, model, part)
        if (!(await storeReply(deps, attempt, subject, { key, reply, audioSeconds, cost }))) throw new Ended()
        stored.set(key, reply)
      }
    })
  }
  return parts.flatMap((part): [Part, TranscriptionReply][] => {
    const reply = stored.get(keyOf(subject, model, part))
    return reply ? [[part, reply]] : []
  })
}
