import { describe, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, expectUnreadable, type PartialTurn, tool } from '../../../test/support/turns.ts'

const event = sample('retell_call_ended.json')
const entries = event.call.transcript_with_tool_calls

/** Returns words like those in the sample, which last 240 ms and start every 280 ms. */
const wordsFrom = (startMs: number, words: string) => {
  const timed = words.split(' ').map((text, index) => {
    return { text, startMs: startMs + 280 * index, endMs: startMs + 280 * index + 240 }
  })
  return { text: words, words: timed, startMs, endMs: startMs + 280 * (timed.length - 1) + 240 }
}

const said: PartialTurn[] = [
  { role: 'agent', ...wordsFrom(600, 'Bright Energy, Leo speaking.') },
  { role: 'customer', ...wordsFrom(3_900, 'My bill looks doubled this month.') },
  {
    role: 'agent',
    kind: 'tool_call',
    tool: tool({ callId: 'tc_41', name: 'get_bill', arguments: { account: 'A-2207' } }),
  },
  {
    role: 'tool',
    kind: 'tool_result',
    tool: tool({ callId: 'tc_41', name: 'get_bill', result: { error: 'timeout' }, isError: true }),
  },
  { role: 'system', kind: 'event', text: 'node_transition: identify → apologise' },
  { role: 'agent', ...wordsFrom(14_200, 'I could not load the bill, let me transfer you.') },
  { role: 'customer', kind: 'event', text: 'dtmf: 0' },
]

describe('Retell', () => {
  test('reads a transcript with tool calls, separately and in its call', () => {
    for (const content of [entries, event.call, event]) expectTurns(content, {}, 'retell', said)
  })

  test('reads a transcript object without its call', () => {
    const messages = said.filter(({ kind }) => kind === undefined)
    expectTurns(event.call.transcript_object, {}, 'retell', messages)
  })

  test('reads a person who takes over, sent texts, and entries of a later version', () => {
    const content = [
      { role: 'transfer_target', content: 'Billing, Maria.', words: [] },
      { role: 'sms', content: 'Your code is 1', time_sec: 12.5 },
      { role: 'agent_swap' },
      { role: 'narrator', content: 'Music.' },
    ]
    expectTurns(content, {}, 'retell', [
      { role: 'human_agent', text: 'Billing, Maria.' },
      { role: 'system', kind: 'event', text: 'sms: Your code is 1', startMs: 12_500 },
      { role: 'system', kind: 'event', text: 'agent_swap' },
      { role: 'other', text: 'Music.' },
    ])
  })

  test('reads a chat', () => {
    const chat = {
      message_with_tool_calls: [
        { message_id: 'm1', role: 'user', content: 'Hi', created_timestamp: 1_771_923_601_500 },
        { message_id: 'm2', role: 'agent', content: 'Hello', created_timestamp: 1_771_923_602_000 },
      ],
    }
    expectTurns(chat, { startedAt: new Date(1_771_923_600_000) }, 'retell', [
      { role: 'customer', text: 'Hi', startMs: 1_500 },
      { role: 'agent', text: 'Hello', startMs: 2_000 },
    ])
  })

  test('an invalid entry makes everything unreadable', () => {
    expectUnreadable([...entries, null], 'entry 7 is not an object')
  })
})
