import type { Incoming } from '../conversations/ingest/incoming.ts'
import { getIngestSettings } from '../conversations/ingest/queries.ts'
import type { Deps } from '../platform/deps.ts'
import { JsonText } from '../platform/http/json/read.ts'
import { defineTask } from '../platform/threads/define-task.ts'
import { at, textOf } from '../transcripts/json.ts'
import { isCall } from '../transcripts/provider-calls/call.ts'
import { type Provider, readCall } from '../transcripts/provider-calls/read-call.ts'
import { redact } from '../transcripts/redaction.ts'
import { toIncoming } from './incoming.ts'
import { type Parsed, parsePayload } from './payload.ts'
import type { IntegrationSettings } from './settings.ts'
import { type Announced, announcedIn } from './twilio/announced.ts'

/** Reads the payload of a provider's webhook: short payloads on the event loop, long ones in a thread. */

/** The length is in bytes. */
const shortLength = 16 * 1024
const longTranscript = 16 * 1024

type Source = { provider: Provider; id: string; name: string; settings: IntegrationSettings }
type Bounds = { now: Date; metadataBytes: number }

/** `broken` means that the reader's code failed. */
export type PayloadReading =
  | { incoming: Incoming }
  | { ignored: string }
  | { unreadable: string }
  | { rejected: string }
  | { broken: string }

/** Returns whether the content or the code is the cause, so that the same payload would fail again. */
const isLasting = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError

export const readingOf = (parsed: Parsed, source: Source, bounds: Bounds): PayloadReading => {
  if ('unreadable' in parsed) return parsed
  try {
    const reading = readCall(source.provider, parsed.value)
    if (!isCall(reading)) return reading
    const incoming = toIncoming(reading, source, bounds)
    return 'rejected' in incoming ? incoming : { incoming }
  } catch (error) {
    if (!isLasting(error)) throw error
    return { broken: (error as Error).stack ?? String(error) } // `isLasting` has checked that this is an Error.
  }
}

const eventPaths: Record<Provider, string[]> = {
  vapi: ['message', 'type'],
  retell: ['event'],
  elevenlabs: ['type'],
  twilio: ['event_type'],
  livekit: ['event'],
}

const eventOf = (provider: Provider, parsed: Parsed): string | null => {
  const event = 'value' in parsed ? textOf(at(parsed.value, ...eventPaths[provider])) : null
  return event?.slice(0, 120).toWellFormed() ?? null
}

/** Returns whether replaying the redacted payload would produce the same conversation. */
const isSameCall = (provider: Provider, value: unknown, redacted: unknown): boolean => {
  const [told, tells] = [readCall(provider, value), readCall(provider, redacted)]
  if (!isCall(told) || !isCall(tells)) return isCall(told) === isCall(tells)
  return told.externalId === tells.externalId && told.agentExternalId === tells.agentExternalId
}

/** Redacts a payload. Returns null if that is impossible. */
const redactedPayload = (provider: Provider, parsed: Parsed): string | null => {
  if ('unreadable' in parsed) return null
  const redacted = redact(parsed.value)
  return isSameCall(provider, parsed.value, redacted) ? JSON.stringify(redacted) : null
}

type Order = { bytes: Uint8Array; contentType: string | null; source: Source; bounds: Bounds; redacts: boolean }

type Read = {
  event: string | null
  /** The data to fetch, if the payload only announces it. */
  announced: Announced | undefined
  /** The redacted payload, or null if it can't be stored. Undefined if the received bytes are stored. */
  redacted: string | null | undefined
  reading: PayloadReading
  /** The transcript, if it is long. */
  transcript: Uint8Array<ArrayBuffer> | undefined
}

const readNow = ({ bytes, contentType, source, bounds, redacts }: Order): Read => {
  const { provider } = source
  const parsed = parsePayload(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), contentType)
  const announced = announcedIn(provider, parsed)
  return {
    event: eventOf(provider, parsed),
    announced,
    // A recording's callback only contains IDs, which look like phone numbers.
    redacted: redacts && announced !== 'recording' ? redactedPayload(provider, parsed) : undefined,
    reading: readingOf(parsed, source, bounds),
    transcript: undefined,
  }
}

/** Passes a long transcript on as text. If it turns out to be new, a thread reads it again. */
const cutTranscript = (read: Read): Read => {
  if (!('incoming' in read.reading)) return read
  const { transcript, ...rest } = read.reading.incoming
  if (transcript === null || transcript === undefined) return read
  const json = JSON.stringify(transcript)
  if (json.length <= longTranscript) return read
  return { ...read, reading: { incoming: { ...rest, transcript: null } }, transcript: new TextEncoder().encode(json) }
}

export const readLongPayload = defineTask({
  name: 'integrations.read-payload',
  run: (order: Order): Read => cutTranscript(readNow(order)),
})

const pasteTranscript = ({ reading, transcript, ...read }: Read): Omit<Read, 'transcript'> => {
  if (!transcript || !('incoming' in reading)) return { ...read, reading }
  return { ...read, reading: { incoming: { ...reading.incoming, transcript: new JsonText(transcript) } } }
}

/** Reads a payload and prepares it for storage. */
export const readPayload = async (
  deps: Pick<Deps, 'db' | 'clock' | 'config' | 'threads'>,
  { org, provider, id, name, settings }: Source & { org: Parameters<typeof getIngestSettings>[1] },
  bytes: Buffer,
  contentType: string | null,
): Promise<Omit<Read, 'transcript'>> => {
  const { redacts } = await getIngestSettings(deps.db, org)
  const order = {
    bytes,
    contentType,
    redacts,
    source: { provider, id, name, settings },
    bounds: { now: deps.clock.now(), metadataBytes: deps.config.limits.metadataBytes },
  }
  const read = bytes.length <= shortLength ? readNow(order) : await deps.threads.run(org, readLongPayload, order)
  return pasteTranscript(read)
}
