// The transcription API of OpenAI, compatible endpoints, and Azure:
// https://platform.openai.com/docs/api-reference/audio/createTranscription
import { randomUUID } from 'node:crypto'
import type { FileRequest, TranscribedSegment, TranscriptionOptions, TranscriptionReply } from './dialect.ts'

/** These models return text without times. */
const untimedModels = /transcribe/i

/** Returns whether a model returns the times at which its text is spoken. */
export const returnsTimes = (model: string): boolean => !untimedModels.test(model)

/** Returns a request with an audio file as form data. */
export const postAudio = (
  url: URL,
  headers: Record<string, string>,
  { model, audio, isTimed }: TranscriptionOptions,
): FileRequest => {
  const boundary = `earshot-${randomUUID()}`
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const head = [
    field('model', model),
    field('response_format', isTimed ? 'verbose_json' : 'json'),
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="audio.wav"\r\n`,
    'Content-Type: audio/wav\r\n\r\n',
  ]
  return {
    method: 'POST',
    url,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    body: Buffer.concat([Buffer.from(head.join('')), audio, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}

type Segment = {
  text?: unknown
  start?: unknown
  end?: unknown
  no_speech_prob?: unknown
  avg_logprob?: unknown
} | null

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

/** Whisper invents text for silence. These values indicate that. */
const isInvented = ({ no_speech_prob: silence, avg_logprob: certainty }: NonNullable<Segment>): boolean =>
  typeof silence === 'number' && silence > 0.6 && typeof certainty === 'number' && certainty < -1

/** Removes characters that PostgreSQL cannot store, and white space at the ends. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed().trim()

const toMs = (seconds: number): number => Math.round(seconds * 1_000)

const readSegment = (segment: Segment): TranscribedSegment[] => {
  const { text, start, end } = segment ?? {}
  if (!segment || typeof text !== 'string' || !isTime(start) || !isTime(end) || isInvented(segment)) return []
  return [{ text: storable(text), startMs: toMs(start), endMs: toMs(Math.max(start, end)) }]
}

export const readTranscription = (body: unknown): TranscriptionReply | undefined => {
  const { text, segments } = Object(body) as { text?: unknown; segments?: unknown }
  if (typeof text !== 'string') return undefined
  const hasTimes = Array.isArray(segments) && (segments.length > 0 || text.trim() === '')
  return { text: storable(text), segments: hasTimes ? segments.flatMap(readSegment) : null }
}
