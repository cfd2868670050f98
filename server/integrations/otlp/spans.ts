import { ApiError } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import { Unreadable } from '../../transcripts/draft.ts'
import { attributesOf, type OtelSpan, spanOf } from '../../transcripts/formats/otel-spans.ts'
import { idOf, instantOfMs, type JsonObject, objectOf } from '../../transcripts/json.ts'
import { redact } from '../../transcripts/redaction.ts'
import { holdsUnsoundText } from '../payload.ts'

/** Converts trace requests to spans. The spans are stored until a conversation is created from them. */

export type StoredSpan = { resource: JsonObject; scope: JsonObject; span: JsonObject }

/** `conversationKey` is the conversation's ID, if this span contains it. */
export type NewSpan = { traceId: string; spanId: string; conversationKey: string | null; text: string }

export type SpanReading = { spans: NewSpan[]; rejected: number; reason: string | undefined }

/** By default, exporters send far fewer spans at once. */
const mostSpans = 10_000
const mostTraces = 1_000
/** Each span is stored with its resource, so a small request can require a lot of storage. */
const mostCharacters = 16 * 1024 * 1024
const longestKey = 255
/** The maximum amount by which a sender's clock can be ahead. */
const aheadMs = 5 * 60_000

const keyNames = [
  'gen_ai.conversation.id',
  'session.id',
  'conversation.id',
  'langfuse.session.id',
  'ai.telemetry.metadata.sessionId',
]

const keyOf = ({ attributes }: OtelSpan): string | null => {
  const named = keyNames.map((name) => idOf(attributes[name])).find((key) => key !== null)
  return named ?? null
}

const hexId = (value: unknown, digits: number): string | undefined => {
  const id = typeof value === 'string' ? value.toLowerCase() : ''
  return id.length === digits && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id) ? id : undefined
}

const known = ['name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes', 'events', 'status']

const pick = (from: JsonObject, names: string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]))

/** Returns an error if any of the attributes is invalid. */
const faultOf = (value: JsonObject, attributes: unknown[]): string | undefined => {
  if (holdsUnsoundText(value)) return 'a string contains NUL or a lone surrogate'
  try {
    attributes.forEach(attributesOf)
    return undefined
  } catch (error) {
    if (error instanceof Unreadable) return error.message
    throw error
  }
}

type Options = { redacts: boolean; now: Date }

/** Returns the resource and scope of spans, serialized once for all of them. */
const readOrigin = (resource: JsonObject, scope: JsonObject, { redacts }: Options): { text: string } | string => {
  const { attributes } = resource
  const scopeFields = pick(scope, ['name', 'version'])
  const fault = faultOf({ attributes, kept: scopeFields }, [attributes])
  if (fault !== undefined) return fault
  const storedResource = attributes === undefined ? {} : { attributes: redacts ? redact(attributes) : attributes }
  return { text: `"resource":${JSON.stringify(storedResource)},"scope":${JSON.stringify(scopeFields)}` }
}

/** Redacts only text values. IDs and times are numbers that look like personal data. */
const redacted = (span: JsonObject): JsonObject => ({
  ...span,
  name: redact(span.name),
  attributes: redact(span.attributes),
  events: redact(span.events),
})

const readSpan = (given: JsonObject, origin: string, { redacts, now }: Options): NewSpan | string => {
  const traceId = hexId(given.traceId, 32)
  const spanId = hexId(given.spanId, 16)
  if (traceId === undefined || spanId === undefined) return 'traceId or spanId is not a hexadecimal ID'
  const parentSpanId = hexId(given.parentSpanId, 16)
  const span = { traceId, spanId, ...(parentSpanId !== undefined && { parentSpanId }), ...pick(given, known) }
  const events = Array.isArray(given.events) ? given.events.filter(isObject) : []
  const fault = faultOf(span, [given.attributes, ...events.map(({ attributes }) => attributes)])
  if (fault !== undefined) return fault
  const read = spanOf(span)
  if (instantOfMs(read.startMs) === null) return 'startTimeUnixNano is not a valid time'
  if (read.endMs > now.getTime() + aheadMs)
    return 'the span ends more than 5 minutes in the future; check the clock of the sender'
  const conversationKey = keyOf(read)
  if (conversationKey !== null && conversationKey.length > longestKey) {
    return `the conversation ID is longer than ${longestKey} characters`
  }
  const text = `{${origin},"span":${JSON.stringify(redacts ? redacted(span) : span)}}`
  return { traceId, spanId, conversationKey, text }
}

const malformed = (path: string) =>
  new ApiError('invalid', `${path} must be an array of objects`, {
    issues: [{ path, message: 'must be an array of objects' }],
  })

const listOf = (value: unknown, path: string): JsonObject[] => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every(isObject)) throw malformed(path)
  return value
}

const tooMany = (what: string) => new ApiError('tooLarge', `${what} Send smaller batches.`)

/**
 * Returns the valid spans in a request. Limits their depth. Counts invalid spans instead of rejecting the request,
 * because the sender would not send the others again.
 */
export const readSpans = (request: unknown, options: Options): SpanReading => {
  if (!isObject(request)) throw new ApiError('invalid', 'The body must be an object.', { issues: [] })
  const spans: NewSpan[] = []
  let characters = 0
  let rejected = 0
  let reason: string | undefined
  const take = (read: NewSpan | string): void => {
    if (typeof read !== 'string') {
      spans.push(read)
      characters += read.text.length
    } else {
      rejected += 1
      reason ??= read
    }
    if (spans.length + rejected > mostSpans) throw tooMany(`The body contains more than ${mostSpans} spans.`)
    if (characters > mostCharacters) {
      throw tooMany(`Its spans with their resources have more than ${mostCharacters} characters.`)
    }
  }
  for (const resourceSpans of listOf(request.resourceSpans, 'resourceSpans')) {
    for (const scopeSpans of listOf(resourceSpans.scopeSpans, 'scopeSpans')) {
      const origin = readOrigin(objectOf(resourceSpans.resource), objectOf(scopeSpans.scope), options)
      for (const given of listOf(scopeSpans.spans, 'spans')) {
        take(typeof origin === 'string' ? origin : readSpan(given, origin.text, options))
      }
    }
  }
  const traces = new Set(spans.map(({ traceId }) => traceId))
  const keys = new Set(spans.map(({ conversationKey }) => conversationKey))
  if (Math.max(traces.size, keys.size) > mostTraces) {
    throw tooMany(`The body contains more than ${mostTraces} traces or conversations.`)
  }
  return { spans, rejected, reason }
}
