import { test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, tool } from '../../../test/support/turns.ts'

const submission = sample('coval_conversation_submit.json')

test('reads a conversation submitted to Coval, or only its transcript', () => {
  for (const content of [submission, submission.transcript]) {
    expectTurns(content, {}, 'coval', [
      { role: 'agent', text: 'Hello', startMs: 600, endMs: 1_100 },
      { role: 'customer', text: 'Hi', startMs: 1_500, endMs: 1_700 },
      { role: 'agent', kind: 'tool_call', tool: tool({ callId: 'c1', name: 'lookup', arguments: {} }) },
      { role: 'tool', kind: 'tool_result', tool: tool({ callId: 'c1', name: 'lookup', result: { ok: true } }) },
    ])
  }
})
