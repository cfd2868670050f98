import { describe, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, expectUnreadable, latency, tool } from '../../../test/support/turns.ts'

const event = sample('elevenlabs_post_call_transcription.json')

describe('ElevenLabs', () => {
  test('reads a transcript, separately and in its event', () => {
    for (const content of [event.data.transcript, event.data, event]) {
      expectTurns(content, {}, 'elevenlabs', [
        { role: 'agent', text: 'Sol Hotel, how may I help?', startMs: 0, latency: latency({ voiceMs: 210 }) },
        { role: 'customer', text: 'Is late checkout possible tomorrow?', startMs: 3_000 },
        {
          role: 'agent',
          kind: 'tool_call',
          startMs: 5_000,
          tool: tool({ callId: 'req_1', name: 'late_checkout', arguments: { room: '512' } }),
        },
        {
          role: 'tool',
          kind: 'tool_result',
          startMs: 6_000,
          tool: tool({ callId: 'req_1', name: 'late_checkout', result: { until: '14:00', fee: 25 }, isError: false }),
        },
        {
          role: 'agent',
          text: 'Yes, until two in the afternoon for twenty five euros.',
          startMs: 8_000,
          interrupted: true,
          latency: latency({ modelMs: 380 }),
        },
        { role: 'customer', text: 'Please do.', startMs: 12_000 },
      ])
    }
  })

  test('separates text and tool calls in one entry', () => {
    const content = [
      {
        role: 'agent',
        message: 'Let me look.',
        time_in_call_secs: null,
        tool_calls: [{ request_id: 'r', tool_name: 'look', params_as_json: '' }],
        tool_results: null,
      },
    ]
    expectTurns(content, {}, 'elevenlabs', [
      { role: 'agent', text: 'Let me look.' },
      { role: 'agent', kind: 'tool_call', tool: tool({ callId: 'r', name: 'look', arguments: '' }) },
    ])
  })

  test('an invalid tool call makes everything unreadable', () => {
    const content = [{ role: 'agent', message: null, time_in_call_secs: 1, tool_calls: ['look'] }]
    expectUnreadable(content, 'tool call 0 is not an object')
  })
})
