import { describe, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, expectUnreadable, tool } from '../../../test/support/turns.ts'

const call = sample('roark_call_create.json')

describe('Roark', () => {
  test('reads messages with separate tools', () => {
    expectTurns(call, {}, 'roark', [
      { role: 'agent', text: 'Hello', startMs: 600, endMs: 1_100 },
      { role: 'customer', text: 'Hi', startMs: 1_500, endMs: 1_700 },
      {
        role: 'agent',
        kind: 'tool_call',
        startMs: 2_000,
        tool: tool({ name: 'find_slot', arguments: { week: 'W09' } }),
      },
      { role: 'tool', kind: 'tool_result', startMs: 2_600, tool: tool({ name: 'find_slot', result: { slots: 1 } }) },
    ])
  })

  test('places a tool where it was used, or at the end if it has no time', () => {
    const toolInvocations = [{ name: 'late' }, { name: 'between', startOffsetMs: 1_200 }]
    expectTurns({ ...call, toolInvocations }, {}, 'roark', [
      { role: 'agent', text: 'Hello', startMs: 600, endMs: 1_100 },
      { role: 'agent', kind: 'tool_call', startMs: 1_200, tool: tool({ name: 'between' }) },
      { role: 'customer', text: 'Hi', startMs: 1_500, endMs: 1_700 },
      { role: 'agent', kind: 'tool_call', tool: tool({ name: 'late' }) },
    ])
  })

  test('an invalid tool invocation makes everything unreadable', () => {
    expectUnreadable({ ...call, toolInvocations: ['find_slot'] }, 'tool invocation 0 is not an object')
  })
})
