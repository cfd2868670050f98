import { isObject } from '../../platform/is-object.ts'
import { entriesOf, idOf, type JsonObject, numberOf, objectOf, textOf } from '../json.ts'

/** An OTLP JSON span with plain attribute values. */

export type OtelSpan = {
  id: string
  parentId: string | null
  /** The time in milliseconds since 1970, or Infinity if the span has none. */
  startMs: number
  endMs: number
  /** Null if the span does not say how it ended. */
  failed: boolean | null
  /** Whether the conversation was spoken. */
  isVoice: boolean
  attributes: JsonObject
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Converts `{stringValue: …}` and similar objects. The depth of the transcript limits the recursion. */
const plainValue = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } = value
  if (isObject(arrayValue)) return listOf(arrayValue.values).map(plainValue)
  if (isObject(kvlistValue)) return plainAttributes(listOf(kvlistValue.values))
  return stringValue ?? boolValue ?? numberOf(intValue) ?? numberOf(doubleValue) ?? bytesValue ?? null
}

const plainAttributes = (pairs: unknown[]): JsonObject =>
  Object.fromEntries(
    [...entriesOf(pairs, 'attribute')].map(({ key, value }) => [typeof key === 'string' ? key : '', plainValue(value)]),
  )

/** Returns the attributes, which are either a list of pairs or already an object. */
export const attributesOf = (attributes: unknown): JsonObject =>
  Array.isArray(attributes) ? plainAttributes(attributes) : objectOf(attributes)

const nanosecondsToMs = (value: unknown): number => {
  const nanoseconds = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : numberOf(value)
  return nanoseconds === null || nanoseconds <= 0 ? Infinity : nanoseconds / 1e6
}

const failedOf = (status: unknown, attributes: JsonObject): boolean | null => {
  const { code } = objectOf(status)
  if (code === 2 || code === 'STATUS_CODE_ERROR' || typeof attributes['error.type'] === 'string') return true
  return code === 1 || code === 'STATUS_CODE_OK' ? false : null
}

const isVoice = (scope: unknown, attributes: JsonObject): boolean =>
  attributes['conversation.type'] === 'voice' ||
  /^(pipecat|livekit)/i.test(textOf(objectOf(scope).name) ?? '') ||
  Object.keys(attributes).some((name) => name.startsWith('lk.'))

export const spanOf = (span: JsonObject, scope?: unknown): OtelSpan => {
  const attributes = attributesOf(span.attributes)
  const startMs = nanosecondsToMs(span.startTimeUnixNano)
  const endMs = nanosecondsToMs(span.endTimeUnixNano)
  return {
    id: idOf(span.spanId) ?? '',
    parentId: idOf(span.parentSpanId),
    startMs,
    endMs: Number.isFinite(endMs) ? Math.max(startMs, endMs) : startMs,
    failed: failedOf(span.status, attributes),
    isVoice: isVoice(scope, attributes),
    attributes,
  }
}

export const spansOf = (resourceSpans: unknown[]): OtelSpan[] => {
  const spans: OtelSpan[] = []
  for (const resource of entriesOf(resourceSpans, 'resourceSpans')) {
    for (const scope of entriesOf(listOf(resource.scopeSpans), 'scopeSpans')) {
      for (const span of entriesOf(listOf(scope.spans), 'span')) spans.push(spanOf(span, scope.scope))
    }
  }
  return spans
}
