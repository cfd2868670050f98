import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sample } from '../../../../test/samples/ingest/sample.ts'
import { readTranscript } from '../read.ts'
import { expectTurns, expectUnreadable, latency, type Said, tool } from '../test-turns.ts'

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

const said: Said[] = [
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
  test('the traces of a conversation', () => {
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

  test('structured values read like JSON in a text', () => {
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

  test('a list of messages', () => {
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
      // What was said in a sound is not known.
      { role: 'agent' },
    ])
  })

  test('history that each operation repeats is told once', () => {
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

  test('what is said twice is told twice', () => {
    const [ask, ok] = [user('Sure?'), assistant('Yes.')]
    const operations = [operation([ask], [ok]), operation([ask, ok, ask], [ok])]
    expect(texts(operations)).toEqual(['Sure?', 'Yes.', 'Sure?', 'Yes.'])
  })

  test('instructions are told once, and again when they change', () => {
    const instructed = (text: string, input: unknown) => ({
      ...operation(input, null),
      'gen_ai.system_instructions': [{ type: 'text', content: text }],
    })
    const operations = [instructed('A', [user('a')]), instructed('A', [user('a'), user('b')]), instructed('B', [])]
    expect(texts(operations)).toEqual(['A', 'a', 'b', 'B'])
  })

  test('tools that ran side by side are told once, whatever the order of their ends', () => {
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

  test('messages that are no list make the whole unreadable', () => {
    expectUnreadable(operation('Hello', []), 'neither a list nor JSON of a list')
    expectUnreadable(operation([user('a'), 'b'], []), 'entry 1 is not an object')
  })
})
