import { describe, expect, test } from 'vitest'
import { expectTurns, expectUnreadable, latency, tool, turnsOf } from '../../../test/support/turns.ts'
import { readTranscript } from '../read-transcript.ts'

const whole = turnsOf([
  { role: 'system', text: 'Be kind.' },
  {
    role: 'agent',
    text: 'Hello there',
    startMs: 500,
    endMs: 1_500,
    interrupted: true,
    words: [
      { text: 'Hello', startMs: 500, endMs: 900 },
      { text: 'there', startMs: 1_000, endMs: null },
    ],
    latency: latency({ modelMs: 300 }),
  },
  { role: 'customer', text: null, startMs: 1_200 },
  { role: 'agent', kind: 'tool_call', tool: tool({ callId: 'a', name: 'look', arguments: { deep: [1, null] } }) },
  { role: 'tool', kind: 'tool_result', tool: tool({ callId: 'a', name: 'look', result: 3, isError: true }) },
  { role: 'human_agent', text: 'Maria here.' },
  { role: 'other', kind: 'event', text: 'Music' },
])

describe('our own format', () => {
  test('role and text are enough, with any common name for the role', () => {
    const list = [
      { role: 'assistant', text: 'Hello', mood: 'bright' },
      { role: 'Customer', text: 'Hi' },
      { role: 'human-agent', text: 'Me too' },
    ]
    for (const content of [list, { turns: list }, { transcript: list }]) {
      expectTurns(content, {}, 'turns', [
        { role: 'agent', text: 'Hello' },
        { role: 'customer', text: 'Hi' },
        { role: 'human_agent', text: 'Me too' },
      ])
    }
  })

  test('returned turns can be sent again and stay the same', () => {
    expect(readTranscript(whole)).toEqual({ format: 'turns', turns: whole })
  })

  test('a fault is reported with its position', () => {
    const faults: [turn: unknown, named: string][] = [
      [{ text: 'Hi' }, 'turns[1].role must be one of agent, customer'],
      [{ role: 'narrator', text: 'Hi' }, 'turns[1].role must be one of'],
      [{ role: 'agent' }, 'turns[1].text must be given'],
      [{ role: 'agent', text: 5 }, 'turns[1].text must be text'],
      [{ role: 'agent', text: '', kind: 'shout' }, 'turns[1].kind must be one of message'],
      [{ role: 'agent', text: '', startMs: '5' }, 'turns[1].startMs must be milliseconds'],
      [{ role: 'agent', text: '', endMs: -1 }, 'turns[1].endMs must be milliseconds'],
      [{ role: 'agent', text: '', startMs: 5, endMs: 4 }, 'turns[1].endMs must be at or after startMs'],
      [{ role: 'agent', text: '', interrupted: 'no' }, 'turns[1].interrupted must be true or false'],
      [{ role: 'agent', text: '', words: 'a b' }, 'turns[1].words must be a list'],
      [{ role: 'agent', text: '', words: [{}] }, 'turns[1].words[0] must be an object with a text'],
      [{ role: 'agent', text: '', words: [{ text: 'a', startMs: [] }] }, 'turns[1].words[0].startMs must be'],
      [{ role: 'agent', kind: 'tool_call' }, 'turns[1].tool must be an object'],
      [{ role: 'agent', kind: 'tool_call', tool: {} }, 'turns[1].tool.name must be given'],
      [{ role: 'agent', kind: 'tool_call', tool: { name: 5 } }, 'turns[1].tool.name must be text'],
      [{ role: 'tool', kind: 'tool_result', tool: { name: 'a', isError: 1 } }, 'turns[1].tool.isError must be'],
      [{ role: 'agent', text: '', latency: 5 }, 'turns[1].latency must be an object'],
      [{ role: 'agent', text: '', latency: { modelMs: 'x' } }, 'turns[1].latency.modelMs must be milliseconds'],
      ['Hi', 'entry 1 is not an object'],
    ]
    for (const [turn, named] of faults) expectUnreadable([{ role: 'agent', text: 'Hello' }, turn], named)
  })
})
