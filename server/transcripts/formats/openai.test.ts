import { describe, test } from 'vitest'
import { expectTurns, expectUnreadable, tool } from '../../../test/support/turns.ts'

const messages = [
  { role: 'developer', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is the weather' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'text', text: 'in Paris?' },
    ],
  },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
      { id: 'call_2', type: 'function', function: { name: 'time', arguments: '{not json' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: '{"celsius":21}' },
  { role: 'tool', tool_call_id: 'call_2', content: 'noon' },
  { role: 'assistant', content: 'Twenty-one degrees.', refusal: null },
]

describe('OpenAI', () => {
  test('reads messages of each role, strings and parts, tool calls and their results', () => {
    for (const content of [messages, { messages }, JSON.stringify(messages)]) {
      expectTurns(content, {}, 'openai', [
        { role: 'system', text: 'Be brief.' },
        { role: 'customer', text: 'What is the weather\nin Paris?' },
        {
          role: 'agent',
          kind: 'tool_call',
          tool: tool({ callId: 'call_1', name: 'weather', arguments: { city: 'Paris' } }),
        },
        { role: 'agent', kind: 'tool_call', tool: tool({ callId: 'call_2', name: 'time', arguments: '{not json' }) },
        {
          role: 'tool',
          kind: 'tool_result',
          tool: tool({ callId: 'call_1', name: 'weather', result: { celsius: 21 } }),
        },
        { role: 'tool', kind: 'tool_result', tool: tool({ callId: 'call_2', name: 'time', result: 'noon' }) },
        { role: 'agent', text: 'Twenty-one degrees.' },
      ])
    }
  })

  test('reads text next to a call, a call in the old format, and a refusal', () => {
    const content = [
      { role: 'assistant', content: 'Let me see.', tool_calls: [{ id: 'a', function: { name: 'see' } }] },
      { role: 'assistant', content: null, function_call: { name: 'old', arguments: '{}' } },
      { role: 'function', name: 'old', content: 'done' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot.' }] },
    ]
    expectTurns(content, {}, 'openai', [
      { role: 'agent', text: 'Let me see.' },
      { role: 'agent', kind: 'tool_call', tool: tool({ callId: 'a', name: 'see' }) },
      { role: 'agent', kind: 'tool_call', tool: tool({ name: 'old', arguments: {} }) },
      { role: 'tool', kind: 'tool_result', tool: tool({ name: 'old', result: 'done' }) },
      { role: 'agent', text: 'I cannot.' },
    ])
  })

  test('reads tools in the parts of a message', () => {
    const content = [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'u', name: 'look', input: { at: 'it' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'u', content: 'seen', is_error: false }] },
    ]
    expectTurns(content, {}, 'openai', [
      { role: 'agent', text: 'Looking.' },
      { role: 'agent', kind: 'tool_call', tool: tool({ callId: 'u', name: 'look', arguments: { at: 'it' } }) },
      { role: 'tool', kind: 'tool_result', tool: tool({ callId: 'u', name: 'look', result: 'seen', isError: false }) },
    ])
  })

  test('content that is neither a string nor parts makes everything unreadable', () => {
    expectUnreadable([...messages, { role: 'user', content: 5 }], 'neither a string nor an array of parts')
    expectUnreadable([...messages, { role: 'user', content: [5] }], 'neither a string nor an object')
    expectUnreadable([...messages, { content: 'Hi' }], 'entry 6 has no role')
  })
})
