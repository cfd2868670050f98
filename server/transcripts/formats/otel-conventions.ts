import { isObject } from '../../platform/is-object.ts'
import { idOf, type JsonObject, nestedJson, objectOf, textOf } from '../json.ts'

/**
 * Converts OpenInference and AI SDK spans to the GenAI conventions. Attributes that already follow these conventions do
 * not change.
 */

type Attributes = JsonObject

const messagePath = /^llm\.(input|output)_messages\.(\d{1,6})\.message\.(.+)$/

/** Converts `a.0.b` to `{a: {0: {b}}}`. The objects have no prototype, because the sender chooses the names. */
const nest = (into: JsonObject, path: string[], value: unknown): void => {
  const [name = '', ...rest] = path
  if (rest.length === 0) {
    into[name] = value
    return
  }
  const inner = isObject(into[name]) ? into[name] : Object.create(null)
  into[name] = inner
  nest(inner, rest, value)
}

/** Returns the entries of an object with numbers as names, in order. */
const numbered = (value: unknown): JsonObject[] =>
  Object.entries(objectOf(value))
    .filter(([name, entry]) => /^\d{1,6}$/.test(name) && isObject(entry))
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, entry]) => objectOf(entry))

const textPart = (content: unknown) => (textOf(content) === null ? [] : [{ type: 'text', content }])

const openInferenceParts = (message: JsonObject): JsonObject[] => {
  const content = textOf(message.content)
  const spoken = content ?? numbered(message.contents).map(({ message_content }) => objectOf(message_content).text)
  const calls = numbered(message.tool_calls).map(({ tool_call }) => {
    const { id, function: called } = objectOf(tool_call)
    const { name, arguments: given } = objectOf(called)
    return { type: 'tool_call', id, name, arguments: given }
  })
  const { function_call_name: name, function_call_arguments_json: given } = message
  const legacy = textOf(name) === null ? [] : [{ type: 'tool_call', name, arguments: given }]
  return [...[spoken].flat().flatMap(textPart), ...calls, ...legacy]
}

const openInferenceMessage = (message: JsonObject): JsonObject => {
  const role = textOf(message.role) ?? 'other'
  const parts = openInferenceParts(message)
  if (role !== 'tool' && role !== 'function') return { role, parts }
  const response = parts.map(({ content }) => content).join('\n')
  return { role: 'tool', parts: [{ type: 'tool_call_response', id: message.tool_call_id, response }] }
}

/** Returns null if the span has no OpenInference attributes. */
const ofOpenInference = (attributes: Attributes): Attributes | null => {
  if (attributes['openinference.span.kind'] === 'TOOL') {
    return {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': attributes['tool.name'],
      'gen_ai.tool.call.id': attributes['tool_call.id'] ?? attributes['tool.id'],
      'gen_ai.tool.call.arguments': attributes['tool.parameters'] ?? attributes['input.value'],
      'gen_ai.tool.call.result': attributes['output.value'],
    }
  }
  const messages: Record<string, JsonObject> = { input: Object.create(null), output: Object.create(null) }
  for (const [name, value] of Object.entries(attributes)) {
    const [, side = '', index = '', path = ''] = messagePath.exec(name) ?? []
    const into = messages[side]
    if (into) nest(into, [index, ...path.split('.', 12)], value)
  }
  const [input, output] = [messages.input, messages.output].map((side) => numbered(side).map(openInferenceMessage))
  if (!input?.length && !output?.length) return null
  return { 'gen_ai.input.messages': input, 'gen_ai.output.messages': output }
}

const jsonOf = (value: unknown): unknown => (typeof value === 'string' ? nestedJson(value) : value)

const listOf = (value: unknown): JsonObject[] => {
  const list = jsonOf(value)
  return Array.isArray(list) ? list.filter(isObject) : []
}

const sdkCall = ({ toolCallId, toolName, input, args }: JsonObject): JsonObject => {
  return { type: 'tool_call', id: toolCallId, name: toolName, arguments: input ?? args }
}

/** Returns a tool's result. Version 5 of the SDK wraps it as `{type: 'json', value}`. */
const sdkResult = (output: unknown): unknown =>
  isObject(output) && typeof output.type === 'string' && 'value' in output ? output.value : output

const sdkPart = (part: JsonObject): JsonObject[] => {
  if (part.type === 'text') return textPart(part.text)
  if (part.type === 'tool-call') return [sdkCall(part)]
  if (part.type !== 'tool-result') return []
  return [{ type: 'tool_call_response', id: part.toolCallId, response: sdkResult(part.output ?? part.result) }]
}

const sdkMessage = ({ role, content }: JsonObject): JsonObject => ({
  role: textOf(role) ?? 'other',
  parts: typeof content === 'string' ? textPart(content) : listOf(content).flatMap(sdkPart),
})

const sdkAnswer = (attributes: Attributes): JsonObject[] => {
  const text = textOf(attributes['ai.response.text']) ?? textOf(attributes['ai.response.object'])
  const calls = listOf(attributes['ai.response.toolCalls']).map(sdkCall)
  const parts = [...textPart(text), ...calls]
  return parts.length > 0 ? [{ role: 'assistant', parts }] : []
}

/** Returns null if the span has no AI SDK attributes, or if spans inside it contain the same data in more detail. */
const ofAiSdk = (attributes: Attributes, isDetailed: boolean): Attributes | null => {
  if (textOf(attributes['ai.toolCall.name']) !== null) {
    return {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': attributes['ai.toolCall.name'],
      'gen_ai.tool.call.id': idOf(attributes['ai.toolCall.id']),
      'gen_ai.tool.call.arguments': attributes['ai.toolCall.args'],
      'gen_ai.tool.call.result': attributes['ai.toolCall.result'],
    }
  }
  const output = sdkAnswer(attributes)
  if (attributes['ai.prompt.messages'] !== undefined) {
    const input = listOf(attributes['ai.prompt.messages']).map(sdkMessage)
    return { 'gen_ai.input.messages': input, 'gen_ai.output.messages': output }
  }
  const prompt = jsonOf(attributes['ai.prompt'])
  if (!isObject(prompt) || isDetailed) return null
  const promptMessages = textOf(prompt.prompt) === null ? [] : [{ role: 'user', content: prompt.prompt }]
  return {
    'gen_ai.system_instructions': textPart(prompt.system),
    'gen_ai.input.messages': [...promptMessages, ...listOf(prompt.messages)].map(sdkMessage),
    'gen_ai.output.messages': output,
  }
}

const holdsGenAi = (attributes: Attributes): boolean =>
  'gen_ai.input.messages' in attributes ||
  'gen_ai.output.messages' in attributes ||
  attributes['gen_ai.operation.name'] === 'execute_tool'

type ReportedSpan = { id: string; parentId: string | null; startMs: number; endMs: number; attributes: Attributes }

/** Returns the tool calls that a model requested in this span. */
const toolCallsOf = ({ endMs, attributes }: ReportedSpan) =>
  listOf(attributes['gen_ai.output.messages'])
    .flatMap(({ parts }) => listOf(parts))
    .flatMap(({ type, id, name }) => {
      const [callId, tool] = [idOf(id), textOf(name)]
      return type === 'tool_call' && callId !== null && tool !== null ? { id: callId, tool, endMs } : []
    })

/**
 * Adds the IDs of tool calls. OpenInference runs tools without IDs, so each run gets the first open call with its name.
 */
const giveCallIds = (spans: ReportedSpan[]): void => {
  const inOrder = spans.toSorted((a, b) => a.startMs - b.startMs)
  const calls = Map.groupBy(inOrder.flatMap(toolCallsOf), ({ tool }) => tool)
  const used = new Map<string, number>()
  for (const { startMs, attributes } of inOrder) {
    if (attributes['openinference.span.kind'] !== 'TOOL' || idOf(attributes['gen_ai.tool.call.id']) !== null) continue
    const tool = textOf(attributes['gen_ai.tool.name']) ?? ''
    const next = used.get(tool) ?? 0
    const call = calls.get(tool)?.[next]
    if (!call || call.endMs > startMs) continue
    used.set(tool, next + 1)
    attributes['gen_ai.tool.call.id'] = call.id
  }
}

/** Returns the spans with attribute names from the GenAI conventions. */
export const asGenAi = <S extends ReportedSpan>(spans: S[]): S[] => {
  const detailed = new Set(
    spans.filter(({ attributes }) => 'ai.prompt.messages' in attributes).map(({ parentId }) => parentId),
  )
  const converted = spans.map((span) => {
    const { id, attributes } = span
    if (holdsGenAi(attributes)) return span
    const rewritten = ofOpenInference(attributes) ?? ofAiSdk(attributes, detailed.has(id))
    return rewritten ? { ...span, attributes: { ...attributes, ...rewritten } } : span
  })
  if (converted.some(({ attributes }) => attributes['openinference.span.kind'] === 'TOOL')) giveCallIds(converted)
  return converted
}
