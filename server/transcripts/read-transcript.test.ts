import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sample } from '../../test/samples/ingest/sample.ts'
import { placesIn } from '../../test/samples/sample-slots.ts'
import { expectTurns, expectUnreadable, tool } from '../../test/support/turns.ts'
import { strict } from '../platform/json-schema.ts'
import { readTranscript } from './read-transcript.ts'
import { Turn } from './turn.ts'

const isTurn = strict.compile(Turn)

/** Checks that either all turns are valid and in order, or there is a reason. */
const expectWhole = (content: unknown, hints = {}): void => {
  const before = structuredClone(content)
  const reading = readTranscript(content, hints)
  expect(content).toEqual(before)
  if ('unreadable' in reading) {
    expect(reading.unreadable).toMatch(/\S/)
    return
  }
  expect(reading.turns.length).toBeGreaterThan(0)
  for (const [index, turn] of reading.turns.entries()) {
    if (!isTurn(turn)) throw new Error(strict.errorsText(isTurn.errors))
    expect(turn.index).toBe(index)
    if (turn.startMs !== null && turn.endMs !== null) expect(turn.endMs).toBeGreaterThanOrEqual(turn.startMs)
  }
}

const formats = ['vapi', 'retell', 'elevenlabs', 'twilio', 'livekit', 'pipecat', 'otel', 'roark', 'coval', 'openai']
const hints = fc.record({
  provider: fc.constantFrom(...formats, 'turns', 'text', 'nobody', '__proto__', 'constructor'),
  startedAt: fc.constantFrom(new Date('2026-02-23T09:00:00Z'), new Date(0)),
})

const samples = [
  'vapi_end_of_call_report.json',
  'retell_call_ended.json',
  'elevenlabs_post_call_transcription.json',
  'twilio_ci_transcript_bundle.json',
  'livekit_session_report.json',
  'pipecat_session.json',
  'otel_genai_traces.json',
  'roark_call_create.json',
  'coval_conversation_submit.json',
].map(sample)

const likelyValues = fc.constantFrom<unknown>(
  null,
  '',
  'text',
  0,
  -5,
  1e300,
  true,
  [],
  {},
  [null],
  [{}],
  '[]',
  '{"a":1}',
  '2026-02-23T09:00:01Z',
)

describe('any input is read completely or not at all', () => {
  test('arbitrary JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), hints, (content, given) => expectWhole(content, given)),
      { numRuns: 1_000 },
    )
  })

  test('lists of entries with the names that readers know', () => {
    const names =
      'role text content message words parts type tool_calls toolCalls data items timestamp kind tool'.split(' ')
    const values = fc.oneof(
      likelyValues,
      fc.constantFrom('agent', 'user', 'tool_call', 'message', 'dtmf'),
      fc.jsonValue(),
    )
    const entry = fc.dictionary(fc.constantFrom(...names), values)
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), hints, (content, given) => expectWhole(content, given)),
      { numRuns: 1_500 },
    )
  })

  test('samples with random values inserted', () => {
    const change = fc.tuple(fc.nat(), fc.oneof(likelyValues, fc.jsonValue()), fc.boolean())
    const changes = fc.array(change, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.constantFrom(...samples), changes, hints, (original, made, given) => {
        const content = structuredClone(original)
        for (const [where, value, absent] of made) {
          const places = placesIn(content)
          const { holder, key } = places[where % places.length] ?? { holder: content, key: 'x' }
          if (absent) Reflect.deleteProperty(holder, key)
          else Reflect.set(holder, key, structuredClone(value))
        }
        expectWhole(content, given)
      }),
      { numRuns: 1_000 },
    )
  })

  test('any text', () => {
    const line = fc.constantFrom('Agent: ', 'User:', '[00:01] ', '\n', ' ', ':', '**', '(', 'a', '\u202e', '\ud800')
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (parts) => expectWhole(parts.join(''))),
      { numRuns: 1_000 },
    )
  })
})

describe('limits', () => {
  const said = { role: 'agent', text: 'Hi' }

  test('100,000 turns are read, one more is rejected', () => {
    const list = Array.from({ length: 100_000 }, () => said)
    const reading = readTranscript(list)
    expect('turns' in reading && reading.turns.length).toBe(100_000)
    expectUnreadable([...list, said], 'more than 100,000 turns')
  })

  test('a turn of a megabyte is read unchanged', () => {
    const text = 'شكرا \u202e<b>\u0000&\ud83e\udd8a'.repeat(80_000)
    const reading = readTranscript([{ role: 'agent', text }])
    expect('turns' in reading && reading.turns[0]?.text === text).toBe(true)
    expectUnreadable(
      Array.from({ length: 20 }, () => ({ role: 'agent', text })),
      'more than 20,000,000 characters',
    )
  })

  test('more than a million words are rejected', () => {
    const words = Array.from({ length: 500_001 }, () => ({ text: '' }))
    expectUnreadable(
      [
        { ...said, words },
        { ...said, words },
      ],
      'more than 1,000,000 words',
    )
  })

  test('JSON nested too deep is rejected', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    for (const depth of [201, 10_000, 1_000_000]) {
      const call = { role: 'agent', kind: 'tool_call', tool: { name: 'a', arguments: nested(depth) } }
      expectUnreadable([call], 'nested more than 200 levels deep')
    }
    const deepText = '['.repeat(100_000) + ']'.repeat(100_000)
    expectTurns([{ role: 'agent', kind: 'tool_call', tool: { name: 'a', arguments: deepText } }], {}, 'turns', [
      { role: 'agent', kind: 'tool_call', tool: tool({ name: 'a', arguments: deepText }) },
    ])
  })

  test('arguments with escapes that cannot be stored stay strings', () => {
    for (const text of ['{"a":"\\u0000"}', '["\\ud800"]', '{"\\uDC00":1}', '[1,]', '{"a":1', '"a"', '5']) {
      expectTurns([{ role: 'tool', kind: 'tool_result', tool: { name: 'a', result: text } }], {}, 'turns', [
        { role: 'tool', kind: 'tool_result', tool: tool({ name: 'a', result: text }) },
      ])
    }
    const paired = '{"a":"\\ud83e\\udd8a"}'
    expectTurns([{ role: 'tool', kind: 'tool_result', tool: { name: 'a', result: paired } }], {}, 'turns', [
      { role: 'tool', kind: 'tool_result', tool: tool({ name: 'a', result: { a: '🦊' } }) },
    ])
  })

  test('time is linear for any text or list', () => {
    const hostile: [name: string, content: unknown][] = [
      ['spaces', ' '.repeat(2_000_000)],
      ['names without end', 'Agent '.repeat(300_000)],
      ['empty lines', `Agent: a${'\n'.repeat(1_000_000)}`],
      ['colons', ':'.repeat(2_000_000)],
      ['tags', [{ type: 'message', role: 'assistant', content: ['<expr '.repeat(300_000)] }]],
      ['tags and spaces', [{ type: 'message', role: 'assistant', content: [`<expr${' '.repeat(1_000_000)}`] }]],
      ['brackets', '['.repeat(2_000_000)],
      ['digits', [{ role: 'user', content: 'a', start_time: '1'.repeat(1_000_000) }]],
      [
        'a history of one word',
        Array.from({ length: 2 }, () => ({
          'gen_ai.input.messages': Array.from({ length: 40_000 }, () => ({ role: 'user', content: 'a' })),
        })),
      ],
      ['empty objects', Array.from({ length: 1_000_000 }, () => ({}))],
    ]
    // If reading took more than linear time, these cases would time out.
    for (const [name, content] of hostile) {
      const reading = readTranscript(content)
      expect('turns' in reading || 'unreadable' in reading, name).toBe(true)
    }
  })
})

describe('the choice of a format', () => {
  test('the hinted format is tried first, then the others', () => {
    const content = [{ role: 'user', message: 'Hi', time_in_call_secs: 2 }]
    expectTurns(content, {}, 'elevenlabs', [{ role: 'customer', text: 'Hi', startMs: 2_000 }])
    expectTurns(content, { provider: 'vapi' }, 'vapi', [{ role: 'customer', text: 'Hi' }])
    expectTurns([{ role: 'user', text: 'Hi' }], { provider: 'vapi' }, 'turns', [{ role: 'customer', text: 'Hi' }])
  })

  test('an unknown structure, or one without turns, is unreadable', () => {
    for (const content of [null, 5, true, {}, { a: [] }, [], [5], [{}], { transcript: 'Agent: Hi' }]) {
      expectUnreadable(content, 'no supported format')
    }
    expectUnreadable({ turns: [] }, 'contains no turns')
  })

  test('implausible times are unknown', () => {
    const seconds: [start: unknown, end: unknown, read: [number | null, number | null]][] = [
      [-0.4, 1, [0, 1_000]],
      [-2, 1, [null, 1_000]],
      [5, 4, [5_000, null]],
      [1_771_837_200, 1_771_837_201, [null, null]],
      ['1.5', '2', [1_500, 2_000]],
      ['soon', Number.NaN, [null, null]],
    ]
    for (const [start_time, end_time, [startMs, endMs]] of seconds) {
      const content = [{ role: 'user', content: 'Hi', start_time, end_time }]
      expectTurns(content, {}, 'coval', [{ role: 'customer', text: 'Hi', startMs, endMs }])
    }
  })
})
