import { describe, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, expectUnreadable, type PartialTurn, tool } from '../../../test/support/turns.ts'

const report = sample('vapi_end_of_call_report.json')
const messages = report.message.artifact.messages

const said: PartialTurn[] = [
  {
    role: 'system',
    text: 'You are Nora, receptionist for Harbor Dental. Verify date of birth before any change.',
    startMs: 0,
  },
  { role: 'agent', text: 'Harbor Dental, this is Nora. How can I help?', startMs: 900, endMs: 3_800 },
  { role: 'customer', text: 'Hi, I need to move my cleaning on Tuesday.', startMs: 4_600, endMs: 7_200 },
  { role: 'agent', text: 'Sure. What is your date of birth?', startMs: 8_300, endMs: 10_400 },
  { role: 'customer', text: 'April ninth, nineteen eighty four.', startMs: 11_100, endMs: 13_600 },
  {
    role: 'agent',
    kind: 'tool_call',
    startMs: 14_200,
    tool: tool({ callId: 'call_h1', name: 'find_slot', arguments: { dob: '1984-04-09', week: '2026-W09' } }),
  },
  {
    role: 'tool',
    kind: 'tool_result',
    startMs: 15_800,
    tool: tool({ callId: 'call_h1', name: 'find_slot', result: { slots: ['2026-02-26T15:00:00-05:00'] } }),
  },
  {
    role: 'agent',
    text: 'I have Thursday the twenty-sixth at three. Does that work?',
    startMs: 17_400,
    endMs: 21_000,
  },
  { role: 'customer', text: 'Thursday at three is great, thanks.', startMs: 21_900, endMs: 24_100 },
  { role: 'agent', text: 'You are all set. Goodbye!', startMs: 25_000, endMs: 27_200 },
]

describe('Vapi', () => {
  test('reads messages with or without the objects around them', () => {
    for (const content of [messages, { messages }, report.message, report]) expectTurns(content, {}, 'vapi', said)
  })

  test('absolute times count from the start of the call if there are no offsets', () => {
    const startedAt = new Date(report.message.startedAt)
    const withoutOffsets = messages.map(({ secondsFromStart, ...message }: Record<string, unknown>) => message)
    // The system message was written 900 ms before the call. Clocks can differ by this much, so the message counts as
    // the start.
    expectTurns(withoutOffsets, { startedAt }, 'vapi', said)
    const untimed = said.map(({ startMs, endMs, ...rest }) => rest)
    expectTurns(withoutOffsets, {}, 'vapi', untimed)
  })

  test('keeps the rest of calls without times, names, or arguments', () => {
    const content = [
      { role: 'assistant', message: 'One moment.', toolCalls: [{ id: 'c' }] },
      { role: 'tool_call_result', toolCallId: 'c', result: 'not JSON' },
    ]
    expectTurns(content, {}, 'vapi', [
      { role: 'agent', text: 'One moment.' },
      { role: 'agent', kind: 'tool_call', tool: tool({ callId: 'c' }) },
      { role: 'tool', kind: 'tool_result', tool: tool({ callId: 'c', result: 'not JSON' }) },
    ])
  })

  test('a fault makes everything unreadable', () => {
    expectUnreadable([...messages, 7], 'entry 10 is not an object')
    expectUnreadable([...messages, { message: 'Hello' }], 'entry 10 has no role')
  })
})
