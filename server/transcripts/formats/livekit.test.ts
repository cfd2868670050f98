import { describe, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { expectTurns, expectUnreadable, latency, type PartialTurn, tool } from '../../../test/support/turns.ts'

const report = sample('livekit_session_report.json')
const startedAt = new Date(report.started_at * 1_000)

const said: PartialTurn[] = [
  { role: 'system', text: 'You are a parcel support agent.', startMs: 50 },
  {
    role: 'agent',
    text: 'Hi, parcel support. How can I help?',
    startMs: 900,
    endMs: 3_000,
    latency: latency({ modelMs: 310, voiceMs: 180 }),
  },
  {
    role: 'customer',
    text: 'Where is my parcel?',
    startMs: 3_600,
    endMs: 4_900,
    latency: latency({ transcriptionMs: 210, endOfTurnMs: 580 }),
  },
  {
    role: 'agent',
    kind: 'tool_call',
    startMs: 6_000,
    tool: tool({ callId: 'fc_1', name: 'track_order', arguments: { order: 'P-31' } }),
  },
  {
    role: 'tool',
    kind: 'tool_result',
    startMs: 6_700,
    tool: tool({ callId: 'fc_1', name: 'track_order', result: { eta: 'tomorrow' }, isError: false }),
  },
  {
    role: 'agent',
    text: 'It arrives tomorrow.',
    startMs: 7_600,
    endMs: 8_900,
    interrupted: true,
    latency: latency({ modelMs: 440, voiceMs: 200, totalMs: 1_310 }),
  },
  { role: 'system', kind: 'event', text: 'agent_handoff: triage → returns', startMs: 12_000 },
]

const assistant = (...content: unknown[]) => [{ type: 'message', role: 'assistant', content }]

describe('LiveKit', () => {
  test('reads a session report', () => {
    expectTurns(report, {}, 'livekit', said)
  })

  test('reads only the history, if the start of the conversation is known for absolute times', () => {
    for (const content of [report.chat_history, report.chat_history.items]) {
      expectTurns(content, { startedAt }, 'livekit', said)
    }
    const untimed = said.map(({ startMs, endMs, ...rest }) => rest)
    expectTurns(report.chat_history, {}, 'livekit', untimed)
  })

  test('voice directions are not text', () => {
    const spoken: [written: string, heard: string][] = [
      ['Sure. <expr type="laugh"/> It is.', 'Sure. It is.'],
      ['<expr a="1"/>Hello<expr/> you', 'Hello you'],
      ['a<expr/>b <expr>c</expr> d', 'ab c d'],
      ['1 < 2, <express> and <expr unclosed', '1 < 2, <express> and <expr unclosed'],
    ]
    for (const [written, heard] of spoken) {
      expectTurns(assistant(written), {}, 'livekit', [{ role: 'agent', text: heard }])
    }
    const customer = [{ type: 'message', role: 'user', content: ['<expr/>'] }]
    expectTurns(customer, {}, 'livekit', [{ role: 'customer', text: '<expr/>' }])
  })

  test('reads parts of a message: text and audio transcripts, not images', () => {
    const content = assistant(
      'One.',
      { type: 'image_content', image: 'x' },
      { type: 'audio_content', transcript: 'Two.' },
    )
    expectTurns(content, {}, 'livekit', [{ role: 'agent', text: 'One.\nTwo.' }])
  })

  test('items of later versions are events; an invalid item makes everything unreadable', () => {
    const items = [...assistant('Hi'), { type: 'eot_prediction', created_at: 1 }]
    expectTurns({ items }, { startedAt }, 'livekit', [
      { role: 'agent', text: 'Hi' },
      { role: 'system', kind: 'event', text: 'eot_prediction' },
    ])
    expectUnreadable([...items, {}], 'an item has no type')
    expectUnreadable([...items, { type: 'message', content: [] }], 'a message has no role')
  })
})
