import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, expectUnreadable, latency, type PartialTurn, tool } from '../../../test/support/turns.ts'
import { readTranscript } from '../read-transcript.ts'

const traces = sample('otel_genai_traces.json')

const user = (content: string) => ({ role: 'user', parts: [{ type: 'text', content }] })
const assistant = (content: string) => ({ role: 'assistant', parts: [{ type: 'text', content }] })
const operation = (input: unknown, output: unknown) => ({
  'gen_ai.input.messages': input,
  'gen_ai.output.messages': output,
})
const texts = (content: unknown) => {
  const reading = readTranscript(content)
  return 'turns' in reading ? reading.turns.map(({ text }) => text) : reading.unreadable
}

const said: PartialTurn[] = [
  { role: 'system', text: 'You change airline seats.' },
  { role: 'customer', text: 'Can I change my seat?' },
  {
    role: 'agent',
    kind: 'tool_call',
    startMs: 5_200,
    tool: tool({ callId: 'c1', name: 'seat_map', arguments: { pnr: 'QX12' } }),
    latency: latency({ modelMs: 370, totalMs: 1_080 }),
  },
  {
    role: 'tool',
    kind: 'tool_result',
    startMs: 5_900,
    tool: tool({ callId: 'c1', name: 'seat_map', result: { free: ['14A'] }, isError: false }),
  },
]

describe('OpenTelemetry GenAI', () => {
  test('reads the traces of a conversation', () => {
    expectTurns(traces, {}, 'otel', said)
  })

  test('spans in any order are the same conversation', () => {
    const scope = traces.resourceSpans[0].scopeSpans[0]
    fc.assert(
      fc.property(fc.shuffledSubarray(scope.spans, { minLength: scope.spans.length }), (spans) => {
        expectTurns({ resourceSpans: [{ scopeSpans: [{ spans }] }] }, {}, 'otel', said)
      }),
    )
  })

  test('structured values read like JSON strings', () => {
    const text = (content: string) => ({
      kvlistValue: {
        values: [
          { key: 'type', value: { stringValue: 'text' } },
          { key: 'content', value: { stringValue: content } },
        ],
      },
    })
    const message = {
      kvlistValue: {
        values: [
          { key: 'role', value: { stringValue: 'user' } },
          { key: 'parts', value: { arrayValue: { values: [text('Hello'), text('there')] } } },
        ],
      },
    }
    const attributes = [{ key: 'gen_ai.input.messages', value: { arrayValue: { values: [message] } } }]
    expectTurns({ resourceSpans: [{ scopeSpans: [{ spans: [{ attributes }] }] }] }, {}, 'otel', [
      { role: 'customer', text: 'Hello\nthere' },
    ])
  })

  test('reads a list of messages', () => {
    const messages = [
      user('Weather?'),
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'They want the weather.' },
          { type: 'text', content: 'A moment.' },
          { type: 'tool_call', id: 'w', name: 'weather', arguments: '{"city":"Paris"}' },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'w', response: 'rain' }] },
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Rain.' }] },
      { role: 'assistant', parts: [{ type: 'blob', modality: 'audio', mime_type: 'audio/wav', content: 'UklGRg' }] },
    ]
    expectTurns(messages, {}, 'otel', [
      { role: 'customer', text: 'Weather?' },
      { role: 'agent', text: 'A moment.' },
      {
        role: 'agent',
        kind: 'tool_call',
        tool: tool({ callId: 'w', name: 'weather', arguments: { city: 'Paris' } }),
      },
      { role: 'tool', kind: 'tool_result', tool: tool({ callId: 'w', name: 'weather', result: 'rain' }) },
      // The text of audio is unknown.
      { role: 'agent' },
    ])
  })

  test('history that each operation repeats appears once', () => {
    const [a, b, c, d] = [user('a'), assistant('b'), user('c'), assistant('d')]
    const story = ['a', 'b', 'c', 'd', 'e']
    const whole = [operation([a], [b]), operation([a, b, c], [d]), operation([a, b, c, d, user('e')], [])]
    expect(texts(whole)).toEqual(story)
    const asText = whole.map((one) =>
      operation(JSON.stringify(one['gen_ai.input.messages']), one['gen_ai.output.messages']),
    )
    expect(texts(asText)).toEqual(story)
    const window = [operation([a], [b]), operation([b, c], [d]), operation([d, user('e')], [])]
    expect(texts(window)).toEqual(story)
    const asked = [operation([a], []), operation([a], [b]), operation([a, b, c], [d]), operation([user('e')], [])]
    expect(texts(asked)).toEqual(story)
  })

  test('text that is said twice appears twice', () => {
    const [ask, ok] = [user('Sure?'), assistant('Yes.')]
    const operations = [operation([ask], [ok]), operation([ask, ok, ask], [ok])]
    expect(texts(operations)).toEqual(['Sure?', 'Yes.', 'Sure?', 'Yes.'])
  })

  test('instructions appear once, and again when they change', () => {
    const instructed = (text: string, input: unknown) => ({
      ...operation(input, null),
      'gen_ai.system_instructions': [{ type: 'text', content: text }],
    })
    const operations = [instructed('A', [user('a')]), instructed('A', [user('a'), user('b')]), instructed('B', [])]
    expect(texts(operations)).toEqual(['A', 'a', 'b', 'B'])
  })

  test('parallel tools appear once, in any order of their ends', () => {
    const call = (id: string) => ({ type: 'tool_call', id, name: 'look', arguments: {} })
    const answer = (id: string) => ({ role: 'tool', parts: [{ type: 'tool_call_response', id, response: id }] })
    const ran = (id: string) => ({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.call.result': id,
      'gen_ai.system_instructions': [],
    })
    const asks = { role: 'assistant', parts: [call('x'), call('y')] }
    const operations = [
      operation([user('a')], [asks]),
      ran('y'),
      ran('x'),
      operation([user('a'), asks, answer('x'), answer('y')], [assistant('done')]),
    ]
    const reading = readTranscript(operations)
    const kinds = 'turns' in reading ? reading.turns.map(({ kind, tool }) => `${kind} ${tool?.callId ?? ''}`) : []
    expect(kinds).toEqual(['message ', 'tool_call x', 'tool_call y', 'tool_result y', 'tool_result x', 'message '])
  })

  test('messages that are not a list make everything unreadable', () => {
    expectUnreadable(operation('Hello', []), 'neither an array nor the JSON of an array')
    expectUnreadable(operation([user('a'), 'b'], []), 'entry 1 is not an object')
  })
})

describe('spans of other conventions', () => {
  const startMs = Date.UTC(2026, 1, 28, 12)
  const span = (spanId: string, from: number, to: number, attributes: Record<string, unknown>, more: object = {}) => ({
    spanId,
    ...more,
    startTimeUnixNano: `${startMs + from}000000`,
    endTimeUnixNano: `${startMs + to}000000`,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } })),
  })
  const tracesOf = (...spans: object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
  const told: PartialTurn[] = [
    { role: 'system', text: 'Sell seats.' },
    { role: 'customer', text: 'Is 14A free?', startMs: 100 },
    { role: 'agent', text: 'I look.', startMs: 900 },
    {
      role: 'agent',
      kind: 'tool_call',
      startMs: 1_000,
      tool: tool({ callId: 'c1', name: 'seat_map', arguments: { seat: '14A' } }),
    },
    {
      role: 'tool',
      kind: 'tool_result',
      startMs: 1_500,
      tool: tool({ callId: 'c1', name: 'seat_map', result: { free: true } }),
    },
    { role: 'agent', text: 'It is free.', startMs: 2_400 },
    { role: 'customer', text: 'Take it.', startMs: 9_000 },
    { role: 'agent', text: 'Done.', startMs: 9_500 },
  ]

  test('of OpenInference are read', () => {
    const message = (side: string, index: number, fields: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [`llm.${side}_messages.${index}.message.${name}`, value]),
      )
    const called = {
      'tool_calls.0.tool_call.id': 'c1',
      'tool_calls.0.tool_call.function.name': 'seat_map',
      'tool_calls.0.tool_call.function.arguments': '{"seat":"14A"}',
    }
    const system = message('input', 0, { role: 'system', content: 'Sell seats.' })
    const asks = message('input', 1, {
      role: 'user',
      'contents.0.message_content.type': 'text',
      'contents.0.message_content.text': 'Is 14A free?',
    })
    const looks = { role: 'assistant', content: 'I look.', ...called }
    const answered = message('input', 3, { role: 'tool', tool_call_id: 'c1', content: '{"free":true}' })
    const llm = { 'openinference.span.kind': 'LLM' }
    const history = { ...llm, ...system, ...asks, ...message('input', 2, looks), ...answered }
    const spans = [
      span('a', 0, 2_500, { 'openinference.span.kind': 'AGENT', 'input.value': 'Is 14A free?' }),
      span('b', 100, 900, { ...llm, ...system, ...asks, ...message('output', 0, looks) }),
      span('c', 1_000, 1_500, {
        'openinference.span.kind': 'TOOL',
        'tool.name': 'seat_map',
        'input.value': '{"seat":"14A"}',
        'output.value': '{"free":true}',
      }),
      span('d', 1_600, 2_400, { ...history, ...message('output', 0, { role: 'assistant', content: 'It is free.' }) }),
      span('e', 9_000, 9_500, {
        ...history,
        ...message('input', 4, { role: 'assistant', content: 'It is free.' }),
        ...message('input', 5, { role: 'user', content: 'Take it.' }),
        ...message('output', 0, { role: 'assistant', content: 'Done.' }),
      }),
    ]
    expectTurns(tracesOf(...spans), {}, 'otel', told)
  })

  test('of the AI SDK are read, and the inner one of its two spans per response counts', () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'seat_map', input: { seat: '14A' } }
    const system = { role: 'system', content: 'Sell seats.' }
    const asks = { role: 'user', content: [{ type: 'text', text: 'Is 14A free?' }] }
    const output = { type: 'json', value: { free: true } }
    const history = [
      system,
      asks,
      { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, call] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'seat_map', output }] },
    ]
    const [outer, inner] = [{ parentSpanId: '' }, { parentSpanId: 'a' }]
    const spans = [
      span('a', 0, 2_500, {
        'ai.prompt': JSON.stringify({ prompt: 'Is 14A free?' }),
        'ai.response.text': 'It is free.',
      }),
      span(
        ...(['b', 100, 900] as const),
        {
          'ai.prompt.messages': JSON.stringify([system, asks]),
          'ai.response.text': 'I look.',
          'ai.response.toolCalls': JSON.stringify([call]),
          'gen_ai.request.model': 'gpt-4.1',
        },
        inner,
      ),
      span(
        ...(['c', 1_000, 1_500] as const),
        {
          'ai.toolCall.name': 'seat_map',
          'ai.toolCall.id': 'c1',
          'ai.toolCall.args': '{"seat":"14A"}',
          'ai.toolCall.result': '{"free":true}',
        },
        inner,
      ),
      span(
        ...(['d', 1_600, 2_400] as const),
        { 'ai.prompt.messages': JSON.stringify(history), 'ai.response.text': 'It is free.' },
        inner,
      ),
      // The outer span counts if the inner one is missing.
      span(
        ...(['e', 9_000, 9_500] as const),
        {
          'ai.prompt': JSON.stringify({
            system: 'Sell seats.',
            messages: [
              ...history.slice(1),
              { role: 'assistant', content: 'It is free.' },
              { role: 'user', content: 'Take it.' },
            ],
          }),
          'ai.response.text': 'Done.',
        },
        outer,
      ),
    ]
    expectTurns(tracesOf(...spans), {}, 'otel', told)
  })

  test('names that would change a prototype are plain names', () => {
    const attributes = { 'llm.input_messages.0.message.__proto__.polluted': 'yes' }
    readTranscript(tracesOf(span('a', 0, 1, attributes)))
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
  })
})
