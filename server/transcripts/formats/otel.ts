import { isObject } from '../../platform/is-object.ts'
import { type Hints, type Reader, type TurnDraft, Unreadable } from '../draft.ts'
import { at, idOf, type JsonObject, listAt, secondsToMs, someEntry, textOf } from '../json.ts'
import { asGenAi } from './otel-conventions.ts'
import { conversation } from './otel-history.ts'
import { draftsOfMessages, instructionsOf } from './otel-messages.ts'
import { type OtelSpan, spansOf } from './otel-spans.ts'

/**
 * Reads OpenTelemetry GenAI data: a list of messages, the attributes of one operation, or the traces of a whole
 * conversation. Spans show when a model or a tool was working. In a chat, these are the times at which messages were
 * sent. In a call, they are not the times at which anyone spoke, so only tools have times there.
 */

type Since = (time: number) => number | null

const operationOf = (span: OtelSpan) => textOf(span.attributes['gen_ai.operation.name'])

const latencyOf = ({ attributes }: OtelSpan, turn: OtelSpan | undefined): NonNullable<TurnDraft['latency']> => ({
  modelMs: secondsToMs(attributes['gen_ai.response.time_to_first_chunk']),
  totalMs: secondsToMs(turn?.attributes['turn.user_bot_latency_seconds']),
})

const outputOf = (span: OtelSpan, turn: OtelSpan | undefined, since: Since): TurnDraft[] => {
  const interrupted = turn?.attributes['turn.was_interrupted'] === true
  return draftsOfMessages(span.attributes['gen_ai.output.messages']).map((draft, index) => ({
    ...draft,
    ...(draft.kind === 'message' && { startMs: since(span.endMs) }),
    ...(index === 0 && { latency: latencyOf(span, turn) }),
    interrupted: interrupted && draft.kind === 'message',
  }))
}

/** The events of a span that add to the conversation: its input when it starts, and its output when it ends. */
type Moment = { time: number; rank: number; drafts: () => TurnDraft[] }

const toolMoments = (span: OtelSpan, since: Since): Moment[] => {
  const { attributes } = span
  const tool = { callId: idOf(attributes['gen_ai.tool.call.id']), name: textOf(attributes['gen_ai.tool.name']) }
  const given = attributes['gen_ai.tool.call.arguments']
  const result = attributes['gen_ai.tool.call.result']
  const call: TurnDraft = {
    role: 'agent',
    kind: 'tool_call',
    startMs: since(span.startMs),
    tool: { ...tool, arguments: given },
  }
  const answer: TurnDraft = {
    role: 'tool',
    kind: 'tool_result',
    startMs: since(span.endMs),
    tool: { ...tool, result, isError: span.failed },
  }
  return [
    { time: span.startMs, rank: 1, drafts: () => [call] },
    { time: span.endMs, rank: span.endMs > span.startMs ? 0 : 2, drafts: () => [answer] },
  ]
}

/**
 * Returns the new input: only the messages after the last response were sent when the span started. Everything before
 * is history.
 */
const inputOf = (span: OtelSpan, since: Since): TurnDraft[] => {
  const drafts = draftsOfMessages(span.attributes['gen_ai.input.messages'])
  const answered = drafts.findLastIndex(({ role }) => role !== 'customer')
  return drafts.map((draft, index) => (index > answered ? { ...draft, startMs: since(span.startMs) } : draft))
}

const messageMoments = (span: OtelSpan, turn: OtelSpan | undefined, since: Since): Moment[] => [
  {
    time: span.startMs,
    rank: 1,
    drafts: () => [...instructionsOf(span.attributes['gen_ai.system_instructions']), ...inputOf(span, since)],
  },
  // If a span ends when another one starts, the end comes first, unless both belong to the same span.
  { time: span.endMs, rank: span.endMs > span.startMs ? 0 : 2, drafts: () => outputOf(span, turn, since) },
]

const readSpans = (given: OtelSpan[], since: Since): TurnDraft[] => {
  const spans = asGenAi(given)
  const sinceMessage: Since = spans.some(({ isVoice }) => isVoice) ? () => null : since
  const byId = new Map(spans.map((span) => [span.id, span]))
  const moments = spans.flatMap((span) =>
    operationOf(span) === 'execute_tool'
      ? toolMoments(span, since)
      : messageMoments(span, span.parentId === null ? undefined : byId.get(span.parentId), sinceMessage),
  )
  const ordered = moments.toSorted((a, b) => a.time - b.time || a.rank - b.rank)
  const { add, drafts } = conversation()
  for (const moment of ordered) add(moment.drafts())
  return drafts
}

const holdsMessages = (entry: JsonObject) =>
  'gen_ai.input.messages' in entry || 'gen_ai.output.messages' in entry || 'gen_ai.system_instructions' in entry

const sinceStart = (spans: OtelSpan[], hints: Hints): Since => {
  const start = hints.startedAt?.getTime() ?? spans.reduce((time, { startMs }) => Math.min(time, startMs), Infinity)
  return (time) => (Number.isFinite(time) ? time - start : null)
}

/** Reads operations without spans. The list is in order, and there are no times. */
const readOperations = (operations: unknown[]): TurnDraft[] => {
  const spans = operations.map((operation, index): OtelSpan => {
    if (!isObject(operation)) throw new Unreadable(`operation ${index} is not an object`)
    const times = { startMs: index, endMs: index + 0.5 }
    return { id: String(index), parentId: null, ...times, failed: null, isVoice: false, attributes: operation }
  })
  return readSpans(spans, () => null)
}

export const readOtel: Reader = (content, hints) => {
  const resourceSpans = at(content, 'resourceSpans')
  if (Array.isArray(resourceSpans)) {
    const spans = spansOf(resourceSpans)
    return readSpans(spans, sinceStart(spans, hints))
  }
  if (isObject(content) && holdsMessages(content)) return readOperations([content])
  const list = listAt(content, 'messages')
  if (list && someEntry(list, holdsMessages)) return readOperations(list)
  const hasParts = (entry: JsonObject) => 'role' in entry && 'parts' in entry
  return list && someEntry(list, hasParts) ? draftsOfMessages(list) : undefined
}
