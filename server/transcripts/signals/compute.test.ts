import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { computeSignals } from '../../../test/support/signals.ts'
import { type PartialTurn, tool, turnsOf } from '../../../test/support/turns.ts'
import { strict } from '../../platform/json-schema.ts'
import { readTranscript } from '../read-transcript.ts'
import type { Turn } from '../turn.ts'
import { Signals } from './signals.ts'

const agent = (startMs: number | null, endMs: number | null, rest: Partial<Turn> = {}): PartialTurn => ({
  role: 'agent',
  text: 'Hello there',
  startMs,
  endMs,
  ...rest,
})
const customer = (startMs: number | null, endMs: number | null, rest: Partial<Turn> = {}): PartialTurn => ({
  ...agent(startMs, endMs, rest),
  role: 'customer',
})
const signalsOf = (said: PartialTurn[], durationMs?: number) => computeSignals(turnsOf(said), durationMs)

const turnsIn = (content: unknown) => {
  const reading = readTranscript(content)
  if ('unreadable' in reading) throw new Error(reading.unreadable)
  return reading.turns
}

const unknownTimes = {
  talkRatio: null,
  wordsPerMinute: { agent: null, customer: null },
  responseLatencyMs: { p50: null, p95: null, max: null },
  overlapMs: null,
  longestSilenceMs: null,
  deadAirShare: null,
}

describe('signals equal those calculated manually', () => {
  /**
   * agent     0.9–3.8 (9 words)   8.3–10.4 (7)    17.4–21.0 (10)    25.0–27.2 (6)
   * customer           4.6–7.2 (9)     11.1–13.6 (5)      21.9–24.1 (6)
   */
  test('for a call of a dental office', () => {
    const signals = computeSignals(turnsIn(sample('vapi_end_of_call_report.json')), 73_400)
    expect(signals).toEqual({
      turns: { agent: 4, customer: 3 },
      // 9 + 7 + 10 + 5 and 9 + 5 + 6; "twenty-sixth" and "Hi," are one each.
      words: { agent: 31, customer: 20 },
      // Agent 2.9 + 2.1 + 3.6 + 2.2 = 10.8 s, customer 2.6 + 2.5 + 2.2 = 7.3 s: 10.8 / 18.1.
      talkRatio: 0.5967,
      // 31 words / 0.18 min and 20 words / 0.121667 min.
      wordsPerMinute: { agent: 172.2, customer: 164.4 },
      // 8.3 - 7.2 = 1.1, 17.4 - 13.6 = 3.8 (a tool ran), 25.0 - 24.1 = 0.9. In order 0.9, 1.1, 3.8.
      // p95 is at rank 0.95 * 2 = 1.9: 1.1 + 0.9 * (3.8 - 1.1) = 3.53.
      responseLatencyMs: { p50: 1_100, p95: 3_530, max: 3_800 },
      firstWordMs: 900,
      interruptions: { byAgent: 0, byCustomer: 0 },
      overlapMs: 0,
      // From the last word at 27.2 to the end at 73.4.
      longestSilenceMs: 46_200,
      // Spoken 18.1 of 73.4 s: 55.3 / 73.4.
      deadAirShare: 0.7534,
      toolCalls: 1,
      // The provider does not say whether the result is an error.
      toolFailures: null,
    })
  })

  /**
   * agent     0────────4        6──────9  9──10
   * customer         3.5────5        8────────11      12–12.5
   * human agent                                              14──16
   */
  test('for people who speak at the same time', () => {
    const said = [agent(0, 4_000), customer(3_500, 5_000), agent(6_000, 9_000), customer(8_000, 11_000)]
    const signals = signalsOf([
      ...said,
      agent(9_000, 10_000),
      customer(12_000, 12_500),
      { role: 'human_agent', text: 'Maria here', startMs: 14_000, endMs: 16_000 },
    ])
    expect(signals).toEqual({
      turns: { agent: 3, customer: 3 },
      words: { agent: 6, customer: 6 },
      // The agent speaks 4 + (6 to 10) = 8 s, and the customer 1.5 + 3 + 0.5 = 5 s: 8 / 13.
      talkRatio: 0.6154,
      // 6 words / 8 s and 6 words / 5 s.
      wordsPerMinute: { agent: 45, customer: 72 },
      // The response takes 6.0 - 5.0. At 9, the customer was still speaking, and a person answered at 12.5.
      responseLatencyMs: { p50: 1_000, p95: 1_000, max: 1_000 },
      firstWordMs: 0,
      // The customer interrupts at 3.5 and at 8 and continues for longer. The agent starts at 9 and stops before 11.
      interruptions: { byAgent: 0, byCustomer: 2 },
      // 3.5 to 4 and 8 to 10.
      overlapMs: 2_500,
      // The silence from 12.5 to 14 is longer than those from 5 to 6 and from 11 to 12.
      longestSilenceMs: 1_500,
      // It is silent for 1 + 1 + 1.5 of 16 s.
      deadAirShare: 0.2188,
      toolCalls: 0,
      toolFailures: 0,
    })
  })

  test('for starts without ends: words are counted, durations are unknown', () => {
    const signals = computeSignals(turnsIn(sample('elevenlabs_post_call_transcription.json')), 44_000)
    expect(signals).toEqual({
      ...unknownTimes,
      turns: { agent: 2, customer: 2 },
      // 6 + 10, and 5 + 2.
      words: { agent: 16, customer: 7 },
      firstWordMs: 0,
      // One agent message is marked as interrupted, but no mark says anything about the customer's messages.
      interruptions: { byAgent: null, byCustomer: 1 },
      toolCalls: 1,
      toolFailures: 0,
    })
  })

  test('for a call without speech', () => {
    expect(signalsOf([])).toEqual({
      ...unknownTimes,
      turns: { agent: 0, customer: 0 },
      words: { agent: 0, customer: 0 },
      firstWordMs: null,
      interruptions: { byAgent: null, byCustomer: null },
      toolCalls: 0,
      toolFailures: 0,
    })
  })
})

describe('response latency', () => {
  const latency = (...said: PartialTurn[]) => signalsOf(said).responseLatencyMs.max

  test('only counts what the customer waited for', () => {
    expect(latency(customer(0, 1_000), agent(1_000, 2_000))).toBe(0)
    // The customer says a word during the agent's speech, and the agent continues at 10.
    expect(latency(agent(0, 10_000), customer(4_000, 4_500), agent(10_000, 12_000))).toBeNull()
    // The agent says a word during the customer's speech, and answers at 11.
    expect(latency(customer(0, 10_000), agent(4_000, 4_500), agent(11_000, 12_000))).toBe(1_000)
    // The customer has two utterances, and then the agent has two. Only the time from the second to the third counts.
    expect(latency(customer(0, 1_000), customer(2_000, 3_000), agent(3_700, 4_000), agent(9_000, 9_500))).toBe(700)
    expect(latency(agent(0, 1_000))).toBeNull()
  })

  test('percentiles are interpolated between ranks', () => {
    const said = [100, 200, 300, 400].flatMap((wait, index) => {
      const startMs = index * 10_000
      return [customer(startMs, startMs + 1_000), agent(startMs + 1_000 + wait, startMs + 2_000)]
    })
    // The ranks are 1.5 and 2.85 of 0 to 3.
    expect(signalsOf(said).responseLatencyMs).toEqual({ p50: 250, p95: 385, max: 400 })
  })
})

describe('interruptions', () => {
  const cuts = (...said: PartialTurn[]) => signalsOf(said).interruptions

  test('start at least 200 ms before the end and outlast it', () => {
    expect(cuts(agent(0, 4_000), customer(3_800, 5_000))).toEqual({ byAgent: 0, byCustomer: 1 })
    expect(cuts(agent(0, 4_000), customer(3_801, 5_000))).toEqual({ byAgent: 0, byCustomer: 0 })
    expect(cuts(agent(0, 4_000), customer(2_000, 4_000))).toEqual({ byAgent: 0, byCustomer: 0 })
    expect(cuts(agent(0, 4_000), customer(0, 5_000))).toEqual({ byAgent: 0, byCustomer: 0 })
    expect(cuts(customer(0, 4_000), agent(1_000, 5_000))).toEqual({ byAgent: 1, byCustomer: 0 })
  })

  test('of one utterance count once, whatever reports them', () => {
    const cut = agent(0, 4_000, { interrupted: true })
    expect(cuts(cut, customer(1_000, 5_000), customer(2_000, 6_000))).toEqual({ byAgent: 0, byCustomer: 1 })
    expect(cuts(cut, customer(9_000, 9_500))).toEqual({ byAgent: 0, byCustomer: 1 })
    expect(cuts(agent(null, null), customer(null, null))).toEqual({ byAgent: null, byCustomer: null })
  })

  test('equal a comparison of all pairs', () => {
    const times = fc.tuple(fc.nat(3_000), fc.nat(1_500))
    fc.assert(
      fc.property(fc.array(times, { maxLength: 12 }), fc.array(times, { maxLength: 12 }), (ours, theirs) => {
        const spans = (list: [number, number][]) => list.map(([start, lasts]) => ({ start, end: start + lasts }))
        const [mine, others] = [spans(ours), spans(theirs)]
        const expected = mine.filter(({ start, end }) =>
          others.some((other) => other.start > start && other.start <= end - 200 && other.end > end),
        ).length
        const said = [
          ...mine.map(({ start, end }) => agent(start, end)),
          ...others.map(({ start, end }) => customer(start, end)),
        ]
        expect(cuts(...said).byCustomer).toBe(mine.length === 0 ? null : expected)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('tools', () => {
  test('failures are those that say so, and unknown if none says anything', () => {
    const result = (isError: boolean | null): PartialTurn => ({
      role: 'tool',
      kind: 'tool_result',
      tool: tool({ isError }),
    })
    const call: PartialTurn = { role: 'agent', kind: 'tool_call', tool: tool({ name: 'a' }) }
    expect(signalsOf([call, result(null), call, result(null)])).toMatchObject({ toolCalls: 2, toolFailures: null })
    expect(signalsOf([call, result(null), call, result(true)])).toMatchObject({ toolCalls: 2, toolFailures: 1 })
    expect(signalsOf([call, result(false)])).toMatchObject({ toolCalls: 1, toolFailures: 0 })
    expect(signalsOf([call])).toMatchObject({ toolCalls: 1, toolFailures: 0 })
  })
})

describe('words', () => {
  const words = (text: string | null) => signalsOf([agent(0, 1, { text })]).words.agent

  test('have a letter or a digit', () => {
    expect(words('Twenty-one (21) “degrees”, isn’t it? – …')).toBe(5)
    expect(words('Où est l’église ? 東京です')).toBe(4)
    expect(words('')).toBe(0)
    expect(words('!'.repeat(1_000_000))).toBe(0)
  })

  test('of a message with unknown text make the count unknown', () => {
    expect(words(null)).toBeNull()
    expect(signalsOf([agent(0, 1_000, { text: null }), customer(0, 1_000)])).toMatchObject({
      words: { agent: null, customer: 2 },
      wordsPerMinute: { agent: null, customer: 120 },
    })
  })
})

describe('signals', () => {
  const time = fc.option(fc.nat(20_000), { freq: 20 })
  const turn = fc
    .record({
      role: fc.constantFrom('agent', 'customer', 'system', 'tool', 'human_agent', 'other'),
      kind: fc.constantFrom('message', 'message', 'message', 'tool_call', 'tool_result', 'event'),
      text: fc.option(fc.constantFrom('', 'one', 'two words'), { freq: 20 }),
      startMs: time,
      lasts: time,
      interrupted: fc.boolean(),
      isError: fc.option(fc.boolean()),
    })
    .map(({ lasts, isError, startMs, ...rest }): PartialTurn => {
      const endMs = startMs === null || lasts === null ? null : startMs + lasts
      return { ...rest, startMs, endMs, tool: rest.kind.startsWith('tool') ? tool({ isError }) : null } as PartialTurn
    })
  const conversation = fc.array(turn, { maxLength: 20 })
  const isSignals = strict.compile(Signals)

  test('match the schema: counts are whole numbers, and shares are between 0 and 1', () => {
    fc.assert(
      fc.property(conversation, fc.option(fc.nat(60_000)), (said, durationMs) => {
        expect(isSignals(computeSignals(turnsOf(said), durationMs)), strict.errorsText(isSignals.errors)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('do not depend on the order of turns', () => {
    const shuffled = conversation.chain((said) =>
      fc.tuple(fc.constant(said), fc.shuffledSubarray(said, { minLength: said.length })),
    )
    fc.assert(
      fc.property(shuffled, ([said, other]) => {
        expect(signalsOf(other)).toEqual(signalsOf(said))
      }),
      { numRuns: 700 },
    )
  })

  test('do not depend on events and system messages', () => {
    fc.assert(
      fc.property(conversation, fc.nat(20), fc.constantFrom<PartialTurn>(...silent), (said, place, added) => {
        expect(signalsOf(said.toSpliced(place, 0, added))).toEqual(signalsOf(said))
      }),
      { numRuns: 700 },
    )
  })
  const silent: PartialTurn[] = [
    { role: 'customer', kind: 'event', text: 'dtmf: 1', startMs: 5, endMs: 9_999 },
    { role: 'agent', kind: 'event', text: null },
    { role: 'system', text: 'Be kind.', startMs: 0 },
  ]

  test('have unknown durations if one message has no times', () => {
    fc.assert(
      fc.property(conversation, fc.nat(20), fc.constantFrom('start', 'end'), (said, place, missing) => {
        const untimed = agent(missing === 'start' ? null : 5, missing === 'end' ? null : 9)
        expect(signalsOf(said.toSpliced(place, 0, untimed))).toMatchObject(unknownTimes)
      }),
    )
  })

  test('are computed for 100,000 turns, however they overlap', () => {
    const hostile = {
      calm: (index: number) => agent(index * 100, index * 100 + 90),
      nested: (index: number) => agent(index, 400_000 - index),
      stairs: (index: number) => agent(index, index + 200_000),
    }
    for (const [name, at] of Object.entries(hostile)) {
      const turns = turnsOf(
        Array.from({ length: 100_000 }, (_, index) => ({ ...at(index), role: index % 2 ? 'agent' : 'customer' })),
      )
      const { interruptions } = computeSignals(turns)
      expect(interruptions.byAgent, name).not.toBeNull()
    }
  })
})
