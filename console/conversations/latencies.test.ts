import { expect, it } from 'vitest'
import { pairLatencies } from './latencies.ts'
import type { Turn } from './timeline.ts'

const turn = (index: number, given: Partial<Turn>): Turn => ({
  index,
  role: 'agent',
  kind: 'message',
  text: 'Hello',
  startMs: null,
  endMs: null,
  interrupted: false,
  words: null,
  tool: null,
  latency: null,
  ...given,
})

const latency = { endOfTurnMs: 200, transcriptionMs: null, modelMs: 500, voiceMs: 100, totalMs: null }

const gaps = [
  { channel: 1, startMs: 900, endMs: 1_500 },
  { channel: 0, startMs: 3_000, endMs: 4_200 },
  { channel: 0, startMs: 8_000, endMs: 8_700 },
]
const sound = { gaps, speakers: { agent: 0, customer: 1, by: 'transcript' as const } }

it('pairs turns of the agent with the measured responses', () => {
  const turns = [
    turn(0, { startMs: 0 }),
    turn(1, { role: 'customer', startMs: 1_500 }),
    turn(2, { startMs: 4_000, latency }),
    turn(3, { role: 'customer', startMs: 6_000 }),
    turn(4, { startMs: 8_900, latency: { ...latency, totalMs: 900 } }),
    turn(5, { kind: 'event', startMs: 8_900 }),
    turn(6, { startMs: 20_000 }),
    turn(7, {}),
  ]
  const parts = [
    ['end of turn', 200],
    ['model', 500],
    ['voice', 100],
  ]
  expect(pairLatencies(turns, sound)).toEqual([
    { turn: 2, startMs: 3_000, measuredMs: 1_200, reportedMs: 800, parts },
    { turn: 4, startMs: 8_000, measuredMs: 700, reportedMs: 900, parts },
  ])
})

it('pairs nothing without speakers', () => {
  const unknown = { gaps, speakers: { agent: null, customer: null, by: 'unknown' as const } }
  expect(pairLatencies([turn(2, { startMs: 4_000, latency })], unknown)).toEqual([])
})
