import type { OrgId } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/errors.ts'
import { type JsonCounts, JsonText, parseCounted } from '../../platform/http/json/read.ts'
import { defineTask } from '../../platform/threads/define-task.ts'
import type { Threads } from '../../platform/threads/threads.ts'
import { readTranscript } from '../../transcripts/read-transcript.ts'
import { type RedactedSpans, redactedSpans } from '../../transcripts/redacted-spans.ts'
import { redact } from '../../transcripts/redaction.ts'
import { type MeasuredSignals, measure } from '../../transcripts/signals/compute.ts'
import type { TimeSpan, Utterance } from '../../transcripts/signals/speech.ts'
import { possibleSpans, timedUtterances } from '../../transcripts/spoken-turns.ts'
import type { Turn } from '../../transcripts/turn.ts'
import type { Incoming } from './incoming.ts'
import { type GivenTranscript, giveTranscript, type IngestHints, type ReadTranscript } from './transcript.ts'

/** Reads short incoming content on the event loop, and long content in a thread. */

/**
 * The maximum number of characters that are read on the event loop. The worst text of this length takes a few
 * milliseconds.
 */
const shortLength = 16 * 1024
/** The limit for content to redact, which takes longer. */
const shortRedacted = 2 * 1024

type UnparsedParts = Pick<Incoming, 'transcript' | 'metadata' | 'metrics' | 'startedAt' | 'provider'>
export type Prepared = Pick<Incoming, 'metadata' | 'metrics'> & { transcript: GivenTranscript | null }

type Text = { json: string | Uint8Array<ArrayBuffer>; counts: JsonCounts | undefined }

const parseText = ({ json, counts }: Text): unknown => {
  const text = typeof json === 'string' ? json : Buffer.from(json).toString('utf8')
  if (!counts) return JSON.parse(text)
  try {
    return parseCounted(text, counts, { isForeign: true })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const issues = (error.details?.issues ?? []).map(({ path, message }) => ({
      path: path === '' ? 'transcript' : path.startsWith('[') ? `transcript${path}` : `transcript.${path}`,
      message,
    }))
    throw new ApiError(error.kind, error.message, { issues })
  }
}

const readLong = defineTask({
  name: 'conversations.read',
  run: ({ text, hints, redacts }: { text: Text; hints: IngestHints; redacts: boolean }): ReadTranscript => {
    const value = parseText(text)
    return giveTranscript(redacts ? redact(value) : value, hints).read()
  },
})

const redactLong = defineTask({
  name: 'conversations.redact',
  run: (json: string): string => JSON.stringify(redact(JSON.parse(json))),
})

const measureLong = defineTask({
  name: 'conversations.measure',
  run: ({ content, hints }: { content: string; hints: Partial<IngestHints> }) => measureNow(content, hints),
})

const turnsOfLong = defineTask({
  name: 'conversations.turns',
  run: ({ content, hints }: { content: string; hints: Partial<IngestHints> }): string => {
    const reading = readTranscript(JSON.parse(content), hints)
    return JSON.stringify('turns' in reading ? reading.turns : [])
  },
})

type Content = { content: string; hints: Partial<IngestHints> }

/**
 * The times at which redacted words are spoken, the times at which each side speaks if the transcript has them, and the
 * longest times that turns can take.
 */
export type SpokenTimes = { redacted: RedactedSpans; utterances: Utterance[]; possible: TimeSpan[] }

const readTimesNow = ({ content, hints }: Content): SpokenTimes => {
  const reading = readTranscript(JSON.parse(content), hints)
  const turns = 'turns' in reading ? reading.turns : []
  return { redacted: redactedSpans(turns), utterances: timedUtterances(turns), possible: possibleSpans(turns) }
}

const readTimesOfLong = defineTask({ name: 'conversations.spoken-times', run: readTimesNow })

export const conversationTasks = [readLong, redactLong, measureLong, turnsOfLong, readTimesOfLong]

/** Returns the times at which redacted words in a stored transcript are spoken. */
export const readSpokenTimes = async (threads: Threads, org: OrgId, content: Content): Promise<SpokenTimes> =>
  content.content.length <= shortRedacted ? readTimesNow(content) : threads.run(org, readTimesOfLong, content)

const measureNow = (content: string, hints: Partial<IngestHints>): MeasuredSignals | null => {
  const reading = readTranscript(JSON.parse(content), hints)
  return 'turns' in reading ? measure(reading.turns) : null
}

/** Measures a stored transcript. Returns null if it has no turns. */
export const measureContent = (threads: Threads, org: OrgId, content: string, hints: Partial<IngestHints>) =>
  content.length <= shortLength ? measureNow(content, hints) : threads.run(org, measureLong, { content, hints })

/**
 * Returns the turns of a long stored transcript as JSON, or undefined if it is short enough to be read on the event
 * loop.
 */
export const turnsOfLongContent = (threads: Threads, org: OrgId, content: string, hints: Partial<IngestHints>) =>
  content.length <= shortLength ? undefined : threads.run(org, turnsOfLong, { content, hints })

/** Returns the turns of a stored transcript. */
export const readTurns = async (threads: Threads, org: OrgId, content: string, hints: Partial<IngestHints>) => {
  const long = await turnsOfLongContent(threads, org, content, hints)
  if (long !== undefined) return JSON.parse(long) as Turn[]
  const reading = readTranscript(JSON.parse(content), hints)
  return 'turns' in reading ? reading.turns : []
}

/** Redacts a JSON value without changing its structure. */
export const redactValue = async <T>(threads: Threads, org: OrgId, value: T): Promise<T> => {
  const json = JSON.stringify(value)
  return (json.length <= shortRedacted ? redact(value) : JSON.parse(await threads.run(org, redactLong, json))) as T
}

const readGiven = (threads: Threads, org: OrgId, value: unknown, hints: IngestHints, redacts: boolean) => {
  const short = redacts ? shortRedacted : shortLength
  const long = async (text: Text): Promise<GivenTranscript> => {
    const read = await threads.run(org, readLong, { text, hints, redacts })
    return { ...read, read: () => read }
  }
  if (value instanceof JsonText) return long({ json: value.bytes, counts: value.counts })
  const given = giveTranscript(value, hints)
  if (given.length > short) return long({ json: given.content, counts: undefined })
  return redacts ? giveTranscript(redact(value), hints) : given
}

/**
 * Reads the transcript, and redacts all content if the organization requires it. Throws if the transcript can't be
 * stored.
 */
export const prepare = async (
  threads: Threads,
  org: OrgId,
  given: UnparsedParts,
  redacts: boolean,
): Promise<Prepared> => {
  const { transcript, startedAt, provider, metadata, metrics } = given
  const hints = { startedAt, ...(provider !== undefined && { provider }) }
  const read =
    transcript === null || transcript === undefined ? null : await readGiven(threads, org, transcript, hints, redacts)
  return {
    ...(redacts ? await redactValue(threads, org, { metadata, metrics }) : { metadata, metrics }),
    transcript: read,
  }
}
