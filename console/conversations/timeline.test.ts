import { expect, it } from 'vitest'
import { bandAt, bandsOf, linesOf, type Turn, turnsOf, waitsOf } from './timeline.ts'

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
const tool = (callId: string | null) => ({ callId, name: 'look', arguments: {}, result: null, isError: null })

const kindsOf = (turns: Turn[]) => linesOf(turns).map((line) => [line.kind, turnsOf(line).map(({ index }) => index)])

it('puts overlapping turns on one line, and the next turn of the same speaker on its own', () => {
  const turns = [
    turn(0, { startMs: 0, endMs: 2_000 }),
    turn(1, { role: 'customer', startMs: 1_500, endMs: 3_000 }),
    turn(2, { startMs: 2_800, endMs: 4_000 }),
    turn(3, { startMs: 3_500, endMs: 5_000 }),
    turn(4, { role: 'customer', startMs: 5_000, endMs: 6_000 }),
  ]
  expect(kindsOf(turns)).toEqual([
    ['overlap', [0, 1, 2]],
    ['message', [3]],
    ['message', [4]],
  ])
})

it('joins each tool call with its result, by ID or else the next one', () => {
  const turns = [
    turn(0, { kind: 'tool_call', tool: tool('a') }),
    turn(1, { kind: 'tool_call', tool: tool('b') }),
    turn(2, { kind: 'tool_result', tool: tool('b') }),
    turn(3, { kind: 'tool_result', tool: tool('a') }),
    turn(4, { kind: 'tool_call', tool: tool(null) }),
    turn(5, { kind: 'tool_result', tool: tool(null) }),
    turn(6, { kind: 'tool_result', tool: tool('z') }),
    turn(7, { kind: 'tool_call', tool: tool('y') }),
    turn(8, { role: 'system', text: 'Be kind.' }),
    turn(9, { kind: 'tool_call', tool: tool(null) }),
    turn(10, { kind: 'tool_call', tool: tool(null) }),
    turn(11, { kind: 'tool_result', tool: tool(null) }),
    turn(12, { kind: 'tool_result', tool: tool(null) }),
  ]
  expect(kindsOf(turns)).toEqual([
    ['tool', [0, 3]],
    ['tool', [1, 2]],
    ['tool', [4, 5]],
    ['tool', [6]],
    ['tool', [7]],
    ['aside', [8]],
    ['tool', [9, 11]],
    ['tool', [10, 12]],
  ])
})

it('takes the response time from the source or the timestamps, if either exists', () => {
  const told = { totalMs: 900, transcriptionMs: null, endOfTurnMs: null, modelMs: null, voiceMs: null }
  const turns = [
    turn(0, { startMs: 0, endMs: 1_000 }),
    turn(1, { role: 'customer', startMs: 1_500, endMs: 3_000 }),
    turn(2, { startMs: 5_500, endMs: 6_000 }),
    turn(3, { startMs: 9_000, endMs: 9_500 }),
    turn(4, { role: 'customer', startMs: null }),
    turn(5, { startMs: 12_000, latency: told }),
    turn(6, { role: 'customer' }),
    turn(7, {}),
  ]
  expect([...waitsOf(turns)]).toEqual([
    [2, 2_500],
    [5, 900],
  ])
})

it('finds the turn at a second', () => {
  const bands = bandsOf([
    turn(0, { startMs: 1_000, endMs: 2_000 }),
    turn(1, { kind: 'tool_call', startMs: 2_000 }),
    turn(2, { role: 'customer', startMs: 3_000, endMs: null, text: 'x'.repeat(150) }),
    turn(3, { startMs: 5_000 }),
  ])
  expect(bands.map(({ from, to }) => [from, to])).toEqual([
    [1, 2],
    [3, 5],
    [5, 6],
  ])
  expect([0, 1, 2.9, 3, 4.9, 60].map((at) => bandAt(bands, at)?.index)).toEqual([undefined, 0, 0, 2, 2, 3])
})
