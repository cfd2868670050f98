// Stands in for the transcription APIs of OpenAI and Azure: it checks requests as their documentation requires, and
// transcribes each sound between silences to its number.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { ProviderKind } from '../../../server/model-providers/settings.ts'
import { serve } from '../../outside.ts'
import { Failure, standInKey } from './stand-ins.ts'

export type Transcribed = {
  path: string
  model: string
  format: string
  seconds: number
}

type Sound = { startMs: number; endMs: number }
type Answer = Failure | string | undefined
type Answering = (asked: Transcribed, number: number) => Answer | Promise<Answer>

const sampleRate = 16_000
const headerBytes = 44
const quiet = 300
const shortestSilenceMs = 600

/** Returns the sounds of a WAV file with 16-bit samples. */
const soundsOf = (wav: Buffer): Sound[] => {
  const sounds: Sound[] = []
  for (let at = headerBytes; at + 1 < wav.length; at += 2) {
    if (Math.abs(wav.readInt16LE(at)) < quiet) continue
    const ms = ((at - headerBytes) / 2 / sampleRate) * 1_000
    const last = sounds.at(-1)
    if (last && ms - last.endMs < shortestSilenceMs) last.endMs = ms
    else sounds.push({ startMs: ms, endMs: ms })
  }
  return sounds
}

const isWav = (file: Buffer): boolean =>
  file.toString('latin1', 0, 4) === 'RIFF' &&
  file.readUInt32LE(4) === file.length - 8 &&
  file.readUInt32LE(24) === sampleRate &&
  file.readUInt16LE(22) === 1 &&
  file.readUInt32LE(40) === file.length - headerBytes

const mostBytes = 25 * 1024 * 1024

/** Reads a valid request, or returns the error that the API would return. */
const readRequest = async (body: Buffer, contentType: string) => {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  const [model, format, file] = ['model', 'response_format', 'file'].map((name) => form.get(name))
  if (typeof model !== 'string' || typeof format !== 'string' || !(file instanceof File)) return new Failure(400)
  const wav = Buffer.from(await file.arrayBuffer())
  if (!isWav(wav) || wav.length > mostBytes || !file.name.endsWith('.wav')) return new Failure(400)
  // Newer models accept no other format.
  if (model.includes('transcribe') && format !== 'json') return new Failure(400)
  return { model, format, wav }
}

const paths: Partial<Record<ProviderKind, RegExp>> = {
  'openai-compatible': /^\/v1\/audio\/transcriptions$/,
  'azure-openai':
    /^\/openai\/(v1\/audio\/transcriptions|deployments\/[^/]+\/audio\/transcriptions\?api-version=\d{4}-\d\d-\d\d)$/,
}

const isAllowed = (kind: ProviderKind, { headers }: IncomingMessage): boolean =>
  kind === 'azure-openai' ? headers['api-key'] === standInKey : headers.authorization === `Bearer ${standInKey}`

/** Returns the error that the API would return for a request with the wrong path or without the key. */
const checkRequest = (kind: ProviderKind, request: IncomingMessage): Failure | undefined => {
  if (!isAllowed(kind, request)) return new Failure(401)
  return request.method === 'POST' && paths[kind]?.test(request.url ?? '') ? undefined : new Failure(404)
}

const segmentOf = ({ startMs, endMs, text }: Sound & { text: string }, id: number) => ({
  id,
  seek: 0,
  start: startMs / 1_000,
  end: endMs / 1_000,
  text,
  tokens: [1, 2],
  temperature: 0,
  avg_logprob: -0.3,
  compression_ratio: 1.1,
  no_speech_prob: 0.01,
})

const send = (response: ServerResponse, { status, body, headers }: Failure) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

/** Starts the stand-in. `answering` can return a failure, or the text of a response. */
export const serveTranscription = async (
  kind: ProviderKind,
  answering: Answering = () => undefined,
  whenOver?: Parameters<typeof serve>[1],
) => {
  const asked: Transcribed[] = []
  let sentences = 0

  const transcribe = (wav: Buffer, format: string, seconds: number): object => {
    const sounds = soundsOf(wav).map((sound) => ({ ...sound, text: ` Sentence ${++sentences}.` }))
    const text = sounds
      .map((sound) => sound.text)
      .join('')
      .trim()
    if (format === 'json') return { text, usage: { type: 'duration', seconds } }
    return { task: 'transcribe', language: 'english', duration: seconds, text, segments: sounds.map(segmentOf) }
  }

  const answerTo = async (request: IncomingMessage): Promise<Failure> => {
    const body = await buffer(request)
    if (request.method === 'GET' && request.url === '/v1/models' && isAllowed(kind, request)) {
      return new Failure(200, { object: 'list', data: [{ id: 'whisper-1', object: 'model' }] })
    }
    const fault = checkRequest(kind, request)
    if (fault) return fault
    const read = await readRequest(body, request.headers['content-type'] ?? '')
    if (read instanceof Failure) return read
    const { model, format, wav } = read
    const seconds = (wav.length - headerBytes) / 2 / sampleRate
    const one = { path: request.url ?? '', model, format, seconds }
    asked.push(one)
    const answer = await answering(one, asked.length)
    if (answer instanceof Failure) return answer
    return new Failure(200, answer === undefined ? transcribe(wav, format, seconds) : { text: answer })
  }

  const server = await serve(async (request, response) => send(response, await answerTo(request)), whenOver)
  const path = kind === 'azure-openai' ? '' : '/v1'
  return { asked, settings: { baseUrl: `${server.url}${path}`, apiKey: standInKey } }
}
