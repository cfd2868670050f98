import type { Readable } from 'node:stream'
import { recognize } from '../../conversations/recordings/audio.ts'
import { recordingKind } from '../../conversations/recordings/jobs.ts'
import type { StoredFile } from '../../conversations/recordings/queries.ts'
import { mostBuffered } from '../../platform/blobs/store.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { openByteCollector } from '../../platform/http/byte-collector.ts'
import { newId } from '../../platform/ids.ts'
import { at, idOf } from '../../transcripts/json.ts'
import { longestText } from '../limits.ts'
import { parsePayload } from '../payload.ts'
import type { SignatureVerdict, StreamCheck } from '../signatures.ts'
import { openSplit } from './split.ts'

/** Reads an ElevenLabs webhook as it arrives. The audio goes directly to storage and is never completely in memory. */

export const audioEvent = 'post_call_audio'

/** The maximum size of the webhook without its audio, which consists of two IDs and a time. */
const longestEvent = 64 * 1024

export type StreamedBody =
  | { payload: Buffer }
  | { bytes: number; audio: { externalId: string; file: StoredFile } | { unreadable: string } }

type Reading = {
  /** The value of Content-Length, or NaN if it is missing. */
  announcedBytes: number
  check: StreamCheck
  refuse: (verdict: Exclude<SignatureVerdict, 'valid'>) => ApiError
  /** Counts the bytes that stay in memory. */
  hold: (bytes: number) => void
}

/** Stops storing audio that can't be used, so that no file remains. */
class NoRecording extends Error {}

const readEvent = (rest: Buffer): { externalId: string } | { unreadable: string } | 'other' => {
  if (rest.length > longestEvent)
    return { unreadable: `The payload without the audio is larger than ${longestEvent} bytes.` }
  const parsed = parsePayload(rest, null)
  if ('unreadable' in parsed) return parsed
  if (at(parsed.value, 'type') !== audioEvent) return 'other'
  const externalId = idOf(at(parsed.value, 'data', 'conversation_id'))
  if (externalId === null) return { unreadable: 'data.conversation_id is missing' }
  if (externalId.length > longestText)
    return { unreadable: `the ID of the call is longer than ${longestText} characters` }
  return { externalId }
}

/** Reads the body. The audio is only used after the whole body is verified. */
export const readStreamedBody = async (
  { blobs, config }: Pick<Deps, 'blobs' | 'config'>,
  org: OrgId,
  body: Readable,
  { announcedBytes, check, refuse, hold }: Reading,
): Promise<StreamedBody> => {
  const { documentBytes, recordingBytes } = config.limits
  // Base64 is a third longer than the audio and can contain line breaks and escapes.
  const mostBytes = documentBytes + 2 * recordingBytes
  const tooLarge = () => new ApiError('tooLarge', 'The body exceeds the size limit of this operation.')
  if (announcedBytes > mostBytes) throw tooLarge()
  const split = openSplit()
  const rest = openByteCollector()
  let [bytes, audioBytes] = [0, 0]

  const take = (piece: Buffer): Buffer => {
    bytes += piece.length
    if (bytes > mostBytes) throw tooLarge()
    check.update(piece)
    const { audio, rest: other } = split.push(piece)
    if (rest.add(other) > documentBytes) throw tooLarge()
    const buffered = Math.min(audioBytes + audio.length, mostBuffered) - Math.min(audioBytes, mostBuffered)
    audioBytes += audio.length
    hold(other.length + buffered)
    return audio
  }

  const state: { payload: Buffer; event: ReturnType<typeof readEvent> } = { payload: Buffer.alloc(0), event: 'other' }

  const finish = (): void => {
    const verdict = check.verdict()
    if (verdict !== 'valid') throw refuse(verdict)
    state.payload = rest.take()
    if (audioBytes === 0) return
    const event = readEvent(state.payload)
    state.event = event === 'other' || split.isSound() ? event : { unreadable: 'data.full_audio is not Base64' }
  }

  const audioIn = async function* (): AsyncGenerator<Buffer> {
    // If the body is rejected, the connection stays open to carry the response.
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      const audio = take(piece)
      if (audio.length > 0) yield audio
    }
    finish()
  }

  const { type, content } = await recognize(audioIn())

  const wanted = async function* (): AsyncGenerator<Uint8Array> {
    yield* content
    if (state.event === 'other' || 'unreadable' in state.event) throw new NoRecording()
  }

  const store = async (): Promise<StoredFile | undefined> => {
    if (!type) {
      for await (const _audio of content);
      return undefined
    }
    const { contentType } = type
    const blobKey = `${org}/${recordingKind}/${newId()}`
    try {
      const stored = await blobs.put(blobKey, wanted(), { contentType, maxBytes: recordingBytes })
      return { blobKey, contentType, bytes: stored.bytes }
    } catch (error) {
      if (error instanceof NoRecording) return undefined
      throw error
    }
  }

  const file = await store()
  const { payload, event } = state
  if (event === 'other') return { payload }
  if ('unreadable' in event) return { bytes, audio: event }
  return { bytes, audio: file ? { ...event, file } : { unreadable: 'data.full_audio does not contain audio' } }
}
