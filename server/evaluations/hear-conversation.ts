// Returns the sound that a listening judge hears from a conversation.

import { findRecording } from '../conversations/recordings/queries.ts'
import type { PromptSound } from '../model-providers/requests/dialect.ts'
import type { JudgeDefinition, SoundExcerpt } from '../monitors/judges/definition.ts'
import { longestHeardMs } from '../monitors/judges/heard.ts'
import type { OrgId } from '../platform/db/database.ts'
import { Undecodable } from '../sound/decoding/decode.ts'
import { type SoundSpan, withSound } from '../sound/extract.ts'
import { whySoundStays } from '../sound/may-send.ts'
import type { MeasuredFile } from '../sound/measure-file.ts'
import { findSound } from '../sound/queries.ts'
import type { Turn } from '../transcripts/turn.ts'
import type { EvaluationDeps } from './deps.ts'
import { listContents, listSubjects } from './queries.ts'

type HearDeps = Pick<EvaluationDeps, 'db' | 'blobs' | 'rules'>

type Hearing = {
  definition: Pick<JudgeDefinition, 'soundExcerpt'>
  conversationId: string
  turns: readonly Turn[]
  signal: AbortSignal
}

/** The reason why a judge can't listen to the recording. */
type Unheard = { why: string }

const longestMinutes = longestHeardMs / 60_000

/** Returns the measured recording, which can therefore be decoded. */
const findHeard = async (
  { db }: HearDeps,
  org: OrgId,
  id: string,
): Promise<{ blobKey: string; durationMs: number } | Unheard> => {
  const why = await whySoundStays(db, org)
  if (why !== undefined) return { why }
  const recording = await findRecording(db, org, id)
  if (!recording) return { why: 'there is no recording' }
  if (recording.status !== 'stored')
    return { why: `the recording is ${recording.status}${recording.failure ? `: ${recording.failure}` : ''}` }
  const sound = await findSound(db, org, id)
  if (!sound || sound.blobKey !== recording.blobKey) return { why: 'the recording has not been decoded' }
  if (!sound.measured) return { why: `the recording cannot be decoded: ${sound.reason}` }
  // The job stored this value.
  return { blobKey: sound.blobKey, durationMs: (sound.measured as MeasuredFile).durationMs }
}

/** Returns the numbers of the turns that an excerpt's rule quotes. */
const findQuoted = async (
  { db, rules }: HearDeps,
  org: OrgId,
  { expression }: SoundExcerpt,
  { conversationId, signal }: Hearing,
): Promise<Set<number> | Unheard> => {
  const [subject] = await listSubjects(db, org, [conversationId])
  const [transcript] = await listContents(db, org, [conversationId])
  if (!subject || !transcript) return { why: 'there is no transcript' }
  const { facts, unreadable, format } = subject
  const subjects = [{ facts, unreadable, transcript: { content: transcript.content, format } }]
  const { notes } = await rules.evaluate({ owner: org, rules: [{ expression }], subjects }, signal)
  const { reason, evidence = [] } = notes.get(0) ?? {}
  if (reason !== undefined && reason !== null) return { why: `the excerpt rule returned no result: ${reason}` }
  return new Set(evidence.map(({ turn }) => turn))
}

/** Returns the sound around turns. Excerpts that touch are merged. */
export const excerptsAround = (
  turns: readonly Pick<Turn, 'startMs' | 'endMs'>[],
  { beforeMs, afterMs }: Pick<SoundExcerpt, 'beforeMs' | 'afterMs'>,
  durationMs: number,
): SoundSpan[] => {
  const spans = turns.flatMap(({ startMs, endMs }) => {
    if (startMs === null) return []
    const span = { startMs: Math.max(0, startMs - beforeMs), endMs: Math.min(durationMs, (endMs ?? startMs) + afterMs) }
    return span.endMs > span.startMs ? [span] : []
  })
  spans.sort((a, b) => a.startMs - b.startMs)
  const joined: SoundSpan[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last && span.startMs <= last.endMs) last.endMs = Math.max(last.endMs, span.endMs)
    else joined.push(span)
  }
  return joined
}

const findSpans = async (
  deps: HearDeps,
  org: OrgId,
  hearing: Hearing,
  durationMs: number,
): Promise<SoundSpan[] | Unheard> => {
  const { definition, turns } = hearing
  const { soundExcerpt } = definition
  if (!soundExcerpt) return [{ startMs: 0, endMs: durationMs }]
  const quoted = await findQuoted(deps, org, soundExcerpt, hearing)
  if ('why' in quoted) return quoted
  if (quoted.size === 0) return { why: 'the excerpt rule matched no turn' }
  const spans = excerptsAround(
    turns.filter(({ index }) => quoted.has(index)),
    soundExcerpt,
    durationMs,
  )
  return spans.length > 0 ? spans : { why: 'the turns of the excerpt have no times' }
}

const inSeconds = (ms: number): string => (ms / 1_000).toFixed(1)

const captionOf = ({ startMs, endMs }: SoundSpan, durationMs: number): string =>
  startMs === 0 && endMs === durationMs
    ? 'The sound of the conversation:'
    : `The sound of the conversation from ${inSeconds(startMs)} to ${inSeconds(endMs)} seconds:`

/** Returns the sound that the judge hears, or the reason why there is none. */
export const hearConversation = async (
  deps: HearDeps,
  org: OrgId,
  hearing: Hearing,
): Promise<PromptSound[] | Unheard> => {
  const heard = await findHeard(deps, org, hearing.conversationId)
  if ('why' in heard) return heard
  const { blobKey, durationMs } = heard
  const spans = await findSpans(deps, org, hearing, durationMs)
  if ('why' in spans) return spans
  const totalMs = spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
  if (totalMs > longestHeardMs) {
    const advice = hearing.definition.soundExcerpt ? 'Choose shorter excerpts' : 'Choose excerpts'
    return { why: `a judge can hear ${longestMinutes} minutes, and this is ${inSeconds(totalMs / 60)}. ${advice}` }
  }
  try {
    return await withSound(deps, { owner: org, blobKey }, hearing.signal, async ({ readMix }) => {
      const sounds: PromptSound[] = []
      for (const span of spans) {
        const seconds = (span.endMs - span.startMs) / 1_000
        sounds.push({ caption: captionOf(span, durationMs), wav: await readMix(span), seconds })
      }
      return sounds
    })
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    return { why: `the recording cannot be decoded: ${error.message}` }
  }
}
