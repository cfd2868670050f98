import { describe, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, type PartialTurn, tool } from '../../../test/support/turns.ts'

const session = sample('pipecat_session.json')
const startedAt = new Date(session.started_at)

const said: PartialTurn[] = [
  { role: 'agent', text: 'Clinic line, good afternoon.', startMs: 1_100 },
  { role: 'customer', text: 'I want to refill a prescription.', startMs: 4_300 },
  { role: 'agent', kind: 'tool_call', tool: tool({ callId: 't1', name: 'refill', arguments: { rx: '881' } }) },
  { role: 'tool', kind: 'tool_result', tool: tool({ callId: 't1', name: 'refill', result: { ok: true } }) },
  { role: 'agent', text: 'Done, it is ready at', startMs: 9_000, interrupted: true },
]

describe('Pipecat', () => {
  test('reads a session, or only its turn events', () => {
    expectTurns(session, {}, 'pipecat', said)
    expectTurns(session.transcript, { startedAt }, 'pipecat', said)
  })

  test('absolute times need the start of the conversation, and an offset', () => {
    const untimed = said.map(({ startMs, ...rest }) => rest)
    expectTurns(session.transcript, {}, 'pipecat', untimed)
    const local = [{ role: 'user', content: 'Hi', timestamp: '2026-02-28T12:00:04.300' }]
    expectTurns(local, { startedAt }, 'pipecat', [{ role: 'customer', text: 'Hi' }])
  })

  test('knows that the customer spoke in speech to speech, but not the text', () => {
    const content = [{ role: 'user', content: null, timestamp: '2026-02-28T12:00:01+00:00', user_id: 'u' }]
    expectTurns(content, { startedAt }, 'pipecat', [{ role: 'customer', startMs: 1_000 }])
  })

  test('reads lists with seconds from the start', () => {
    const content = [
      { role: 'assistant', content: 'Hello', start_time: 0.5, end_time: 1.25 },
      { role: 'tool_call', data: { id: 'x', name: 'n', arguments: { a: 1 } }, start_time: 2, end_time: 2 },
      { role: 'user', content: 'Bye', start_time: 3, end_time: 3.5 },
    ]
    expectTurns(content, {}, 'pipecat', [
      { role: 'agent', text: 'Hello', startMs: 500, endMs: 1_250 },
      {
        role: 'agent',
        kind: 'tool_call',
        startMs: 2_000,
        endMs: 2_000,
        tool: tool({ callId: 'x', name: 'n', arguments: { a: 1 } }),
      },
      { role: 'customer', text: 'Bye', startMs: 3_000, endMs: 3_500 },
    ])
  })

  test('reads lists without any times', () => {
    const content = [
      { role: 'user', content: 'Hi' },
      { role: 'tool_call_result', data: { id: 'x', name: 'n', result: 'r' } },
    ]
    expectTurns(content, {}, 'pipecat', [
      { role: 'customer', text: 'Hi' },
      { role: 'tool', kind: 'tool_result', tool: tool({ callId: 'x', name: 'n', result: 'r' }) },
    ])
  })
})
