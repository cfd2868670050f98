import type { AgentReference, Incoming } from '../../conversations/ingest/incoming.ts'
import { isObject } from '../../platform/is-object.ts'
import { Unreadable } from '../../transcripts/draft.ts'
import { instructionsOf } from '../../transcripts/formats/otel-messages.ts'
import { attributesOf, type OtelSpan, spanOf } from '../../transcripts/formats/otel-spans.ts'
import { idOf, type JsonObject, textOf } from '../../transcripts/json.ts'
import { metricsOf } from '../../transcripts/provider-calls/call.ts'
import { readTranscript } from '../../transcripts/read-transcript.ts'
import { cut, cutMetrics } from '../limits.ts'
import type { StoredSpan } from './spans.ts'

/** Creates a conversation from its spans. All functions are pure. */

export type OwnedSpan = { traceId: string; spanId: string; conversationKey: string | null; text: string }

type Read = { stored: StoredSpan; span: OtelSpan; resource: JsonObject }

const parse = (text: string): StoredSpan => JSON.parse(text)

const readAll = (spans: OwnedSpan[]): Read[] =>
  spans
    .map(({ text }): Read => {
      const stored = parse(text)
      return { stored, span: spanOf(stored.span, stored.scope), resource: attributesOf(stored.resource.attributes) }
    })
    // The order does not depend on arrival, so that the same spans always create the same transcript.
    .sort((a, b) => a.span.startMs - b.span.startMs || (a.span.id < b.span.id ? -1 : 1))

/**
 * Returns the spans of a conversation from all of its traces. A span without a conversation ID belongs to the
 * conversation of its nearest ancestor that has one. If no ancestor has an ID, the span belongs to every conversation
 * in its trace.
 */
export const ownSpans = <S extends OwnedSpan>(spans: S[], key: string): S[] => {
  const placeOf = (traceId: string, spanId: string) => `${traceId} ${spanId}`
  const keys = new Map(spans.map((span) => [placeOf(span.traceId, span.spanId), span.conversationKey]))
  const parents = new Map(
    spans.map(({ traceId, spanId, text }) => [placeOf(traceId, spanId), idOf(parse(text).span.parentSpanId)]),
  )
  // Each span is only resolved once, because a chain can include all spans.
  const resolved = new Map<string, string | null>()
  const namedAbove = ({ traceId, spanId }: S): string | null => {
    const passed: string[] = []
    let named: string | null = null
    for (let id: string | null = spanId; id !== null; ) {
      const place = placeOf(traceId, id)
      const known = keys.get(place) ?? resolved.get(place)
      if (known !== undefined) {
        named = known
        break
      }
      // This ends the loop if spans are each other's parents.
      resolved.set(place, null)
      passed.push(place)
      id = parents.get(place) ?? null
    }
    for (const place of passed) resolved.set(place, named)
    return named
  }
  const isSplit = new Set(keys.values()).size > 2
  return spans.filter((span) => {
    const named = span.conversationKey ?? (isSplit ? namedAbove(span) : null)
    return named === null || named === key
  })
}

/** Returns whether the root span of each trace has arrived. Roots end last, so few spans can be missing after that. */
export const isWhole = (spans: OwnedSpan[]): boolean => {
  const rooted = new Set(spans.filter(({ text }) => !parse(text).span.parentSpanId).map(({ traceId }) => traceId))
  return spans.every(({ traceId }) => rooted.has(traceId))
}

const talk =
  /^(gen_ai|conversation|lk|langfuse|llm|ai|openinference|traceloop|input|output)\.|prompt|completion|transcript|messages/i

/** Returns whether a span belongs to a conversation. Traces from web servers and databases also arrive. */
const isOfConversation = ({ span }: Read): boolean => Object.keys(span.attributes).some((name) => talk.test(name))

const first = <T>(reads: Read[], find: (read: Read) => T | null): T | null => {
  for (const read of reads) {
    const found = find(read)
    if (found !== null) return found
  }
  return null
}

const attribute = (reads: Read[], ...names: string[]): string | null =>
  first(reads, ({ span }) => names.map((name) => idOf(span.attributes[name])).find((value) => value !== null) ?? null)

const agentOf = (reads: Read[], channel: 'voice' | 'text'): AgentReference => {
  const agent = first(reads, ({ span: { attributes } }) => {
    const id = idOf(attributes['gen_ai.agent.id'])
    const name = textOf(attributes['gen_ai.agent.name']) ?? textOf(attributes['agent.name'])
    return id !== null || name !== null ? { id: id ?? name, name: name ?? id } : null
  })
  const service = first(reads, ({ resource }) => textOf(resource['service.name'])) ?? 'opentelemetry'
  const name = (agent?.name ?? service).trim() || service
  return { externalId: cut(agent?.id ?? service), make: { name: cut(name), channel } }
}

const promptIn = ({ span }: Read): string | null => {
  try {
    return textOf(instructionsOf(span.attributes['gen_ai.system_instructions'])[0]?.text)
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}

const versionOf = (reads: Read[]): Incoming['version'] => {
  const version = attribute(reads, 'gen_ai.agent.version')
  const label = version === null ? null : cut(version)
  const systemPrompt = first(reads, promptIn)
  if (systemPrompt !== null) return { systemPrompt, label }
  return label === null ? null : { label, make: true }
}

const described = ['service.name', 'service.version', 'deployment.environment.name']

const metadataOf = (reads: Read[]): JsonObject =>
  Object.fromEntries(
    described.flatMap((name) => {
      const value = first(reads, ({ resource }) => textOf(resource[name]))
      return value === null ? [] : [[name, cut(value, 1_000)]]
    }),
  )

/** Returns the values that the sender has evaluated itself. */
const metricsIn = (reads: Read[]): Incoming['metrics'] => {
  const { add, all } = metricsOf('otel')
  for (const { stored } of reads) {
    const events = Array.isArray(stored.span.events) ? stored.span.events.filter(isObject) : []
    for (const event of events.filter(({ name }) => name === 'gen_ai.evaluation.result')) {
      const eventAttributes = attributesOf(event.attributes)
      const value = eventAttributes['gen_ai.evaluation.score.value'] ?? eventAttributes['gen_ai.evaluation.score.label']
      const name = textOf(eventAttributes['gen_ai.evaluation.name'])
      if (name !== null) add(name, value, eventAttributes['gen_ai.evaluation.explanation'])
    }
  }
  return cutMetrics(all())
}

/** Returns the traces in OTLP format, without repeating resources and scopes. */
const contentOf = (reads: Read[]): JsonObject => {
  const resources = new Map<
    string,
    { resource: JsonObject; scopes: Map<string, { scope: JsonObject; spans: unknown[] }> }
  >()
  for (const { stored } of reads) {
    const [place, inside] = [JSON.stringify(stored.resource), JSON.stringify(stored.scope)]
    const { scopes } = resources.get(place) ?? { scopes: new Map() }
    const { spans } = scopes.get(inside) ?? { spans: [] }
    spans.push(stored.span)
    scopes.set(inside, { scope: stored.scope, spans })
    resources.set(place, { resource: stored.resource, scopes })
  }
  return {
    resourceSpans: [...resources.values()].map(({ resource, scopes }) => ({
      resource,
      scopeSpans: [...scopes.values()],
    })),
  }
}

/** Returns the reason why no turns could be read, or undefined if there are turns. */
const unreadReasonOf = (transcript: JsonObject): string | undefined => {
  const reading = readTranscript(transcript, { provider: 'otel' })
  if ('unreadable' in reading) return reading.unreadable
  return reading.turns.some(({ role }) => role !== 'system') ? undefined : 'the transcript only contains instructions'
}

const mostNames = 30

/** Returns the names of all attributes, which show which convention the spans use. */
const namesIn = (reads: Read[]): string => {
  const names = [...new Set(reads.flatMap(({ span }) => Object.keys(span.attributes)))].sort()
  return names
    .slice(0, mostNames)
    .map((name) => cut(name, 60))
    .join(', ')
}

export type Assembled = { conversation: Incoming; unread?: string }

/** Returns the conversation, or null if no span belongs to one. `unread` is the reason why there are no turns. */
export const conversationOf = (key: string, spans: OwnedSpan[]): Assembled | null => {
  const reads = readAll(spans)
  const [earliest] = reads
  if (!earliest || !reads.some(isOfConversation)) return null
  const isCall = reads.some(({ span }) => span.isVoice)
  const customerId = attribute(reads, 'user.id', 'enduser.id', 'langfuse.user.id', 'ai.telemetry.metadata.userId')
  const transcript = contentOf(reads)
  const reason = unreadReasonOf(transcript)
  const conversation: Incoming = {
    externalId: key,
    agent: agentOf(reads, isCall ? 'voice' : 'text'),
    version: versionOf(reads),
    companyId: null,
    channel: isCall ? 'call' : 'chat',
    direction: null,
    status: 'completed',
    startedAt: new Date(Math.round(earliest.span.startMs)),
    endedAt: new Date(Math.round(reads.reduce((end, { span }) => Math.max(end, span.endMs), 0))),
    durationSeconds: null,
    endReason: null,
    customerId: customerId === null ? null : cut(customerId),
    metadata: metadataOf(reads),
    transcript: reason === undefined ? transcript : null,
    provider: 'otel',
    recordingUrl: null,
    metrics: metricsIn(reads),
  }
  if (reason === undefined) return { conversation }
  const message = `No messages in a supported format: ${reason}. Attributes: ${namesIn(reads)}`
  return { conversation, unread: cut(message, 1_000) }
}

/** Returns these spans as traces in OTLP format. */
export const tracesOf = (spans: { text: string }[]): JsonObject =>
  contentOf(readAll(spans.map(({ text }) => ({ traceId: '', spanId: '', conversationKey: null, text }))))
