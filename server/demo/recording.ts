import { recordingKind } from '../conversations/recordings/jobs.ts'
import { findRecording, lockRecordedConversation, storeUploaded } from '../conversations/recordings/queries.ts'
import type { ServiceDeps } from '../deps.ts'
import type { OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'
import type { DemoTurn } from './conversation.ts'
import { openRandom, type Random } from './random.ts'
import { type SpokenLine, speakLines, type Voice } from './speech.ts'

/**
 * Generates recordings for some of the demo's calls. Every turn is spoken at the time given in the transcript, with the
 * agent on the left and the customer on the right. Some recordings have a fault, so that there are problems to find.
 */

const rate = 8_000
const channels = { agent: 0, customer: 1 } as const
const bytesPerFrame = 4
const headerBytes = 44
/** The start and end of speech are louder than this. */
const audible = 300
const loudest = 0x7fff
/** The level of the noise under a line. Digital silence only occurs where a line is interrupted. */
const noise = 6

export const recordingFaults = ['clipping', 'dropouts', 'late answers'] as const

export type CallSound = {
  turns: readonly DemoTurn[]
  durationMs: number
  voices: { agent: Voice; customer: Voice }
  /** The fault of the recording. */
  fault?: (typeof recordingFaults)[number] | 'none'
}

const header = (dataBytes: number): Buffer => {
  const head = Buffer.alloc(headerBytes)
  head.write('RIFF', 0)
  head.writeUInt32LE(headerBytes - 8 + dataBytes, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(2, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * bytesPerFrame, 28)
  head.writeUInt16LE(bytesPerFrame, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(dataBytes, 40)
  return head
}

const framesOf = (ms: number): number => Math.round((ms / 1_000) * rate)

/** Returns the speech without the silence before and after it. */
const trim = (samples: Int16Array): Int16Array => {
  const start = samples.findIndex((sample) => Math.abs(sample) > audible)
  const end = samples.findLastIndex((sample) => Math.abs(sample) > audible)
  return samples.subarray(Math.max(0, start), end + 1)
}

/**
 * Stretches or compresses speech to an exact number of frames. The voice becomes slightly higher or lower, which sounds
 * natural.
 */
const fitTo = ({ samples, sampleRate }: SpokenLine, frames: number): Float32Array => {
  const speech = trim(samples)
  const step = speech.length / frames
  // Averaging over a step removes frequencies that the lower rate can't represent.
  const width = Math.max(1, Math.round(sampleRate / rate))
  return Float32Array.from({ length: frames }, (_, at) => {
    const from = Math.floor(at * step)
    let sum = 0
    for (let next = from; next < from + width; next++) sum += speech[next] ?? 0
    return sum / width
  })
}

type Spoken = DemoTurn & { role: 'agent' | 'customer'; text: string; startMs: number; endMs: number }

const isSpoken = (turn: DemoTurn): turn is Spoken =>
  turn.role !== 'tool' && Boolean(turn.text) && turn.startMs !== undefined && turn.endMs !== undefined

/** Cuts gaps into the speech, like those of lost packets. */
const dropSome = (random: Random, speech: Float32Array): void => {
  for (let from = random.int(rate / 4, rate); from < speech.length; from += random.int(rate, 3 * rate)) {
    speech.fill(Number.NaN, from, from + framesOf(random.int(40, 160)))
  }
}

/** The delay of an answer compared with the transcript, in recordings with this fault. */
const latenessMs = 700

const changes = {
  clipping: { gain: 6, delayMs: 0 },
  dropouts: { gain: 1, delayMs: 0 },
  'late answers': { gain: 1, delayMs: latenessMs },
  none: { gain: 1, delayMs: 0 },
} as const

const clamp = (value: number): number => Math.max(-loudest, Math.min(loudest, Math.round(value)))

/** Adds speech to a channel of the recording. */
const mix = (samples: Int16Array, speech: Float32Array, { at, gain }: { at: number; gain: number }): void => {
  for (const [number, value] of speech.entries()) {
    const sample = at + number * 2
    if (sample >= samples.length) return
    samples[sample] = Number.isNaN(value) ? 0 : clamp((samples[sample] ?? 0) + value * gain)
  }
}

/** Returns a 16-bit WAV file with two channels. */
export const soundOf = async (
  { turns, durationMs, voices, fault = 'none' }: CallSound,
  signal: AbortSignal = new AbortController().signal,
): Promise<Buffer> => {
  const random = openRandom(durationMs, turns.length)
  const lines = turns.filter(isSpoken)
  const spoken = await speakLines(
    lines.map(({ role, text }) => ({ voice: voices[role], text })),
    signal,
  )
  const samples = Int16Array.from({ length: framesOf(durationMs) * 2 }, () => random.int(-noise, noise))
  for (const [number, { role, startMs, endMs }] of lines.entries()) {
    const speech = fitTo(spoken[number] as SpokenLine, framesOf(endMs - startMs))
    if (fault === 'dropouts') dropSome(random, speech)
    const isAnswer = role === 'agent' && lines[number - 1]?.role === 'customer'
    const { gain, delayMs } = changes[fault]
    mix(samples, speech, {
      at: framesOf(startMs + (isAnswer ? delayMs : 0)) * 2 + channels[role],
      gain: role === 'agent' ? gain : 1,
    })
  }
  return Buffer.concat([header(samples.byteLength), Buffer.from(samples.buffer)])
}

export type RecordedCall = CallSound & { conversationId: string }

/** Stores the recording like an upload, unless there is already one. */
export const storeRecording = async (
  deps: Pick<ServiceDeps, 'db' | 'blobs' | 'reactions'>,
  org: OrgId,
  call: RecordedCall,
  signal: AbortSignal,
): Promise<void> => {
  const { db, blobs, reactions } = deps
  const { conversationId } = call
  if (await findRecording(db, org, conversationId)) return
  const blobKey = `${org}/${recordingKind}/${newId()}`
  const contentType = 'audio/wav'
  const { bytes } = await blobs.put(blobKey, [await soundOf(call, signal)], { contentType })
  await db.transaction().execute(async (trx) => {
    await lockRecordedConversation(trx, org, conversationId)
    await storeUploaded(trx, org, conversationId, { blobKey, contentType, bytes })
    await reactions.recordingStored(trx, org, { conversationId })
  })
}
