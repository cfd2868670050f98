import { expect, it } from 'vitest'
import { byClarity, cellsOf, conversationsBehind, endsOf, nameOfRow, verdictOf } from './measures.ts'
import type { ComparedRow } from './requests.ts'

const monitorId = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'

const row = (fields: Partial<ComparedRow> = {}): ComparedRow => ({
  measure: { kind: 'rate', monitorId },
  monitorName: 'Asks for a person',
  definitionChanged: false,
  a: { n: 200, value: 0.1, interval95: { low: 0.07, high: 0.15 } },
  b: { n: 100, value: 0.3, interval95: { low: 0.22, high: 0.4 } },
  difference: 0.2,
  differenceInterval95: { low: 0.1, high: 0.31 },
  p: 0.0001,
  adjustedP: 0.002,
  isNotable: true,
  ...fields,
})

it('names measures', () => {
  expect(nameOfRow(row())).toBe('Asks for a person')
  expect(nameOfRow(row({ measure: { kind: 'score', monitorId, statistic: 'mean' } }))).toBe(
    'Mean score: Asks for a person',
  )
  expect(nameOfRow(row({ measure: { kind: 'duration', statistic: 'p95' } }))).toBe('95th percentile of duration')
  const latency = { kind: 'signal', signal: 'responseLatencyMs.p50', statistic: 'p50' } as const
  expect(nameOfRow(row({ measure: latency }))).toBe('Median response latency')
})

it('says whether a difference is more than chance', () => {
  expect(verdictOf(row())).toBe('Higher in B')
  expect(verdictOf(row({ difference: -0.2 }))).toBe('Lower in B')
  expect(verdictOf(row({ isNotable: false }))).toBe('No clear difference')
  expect(verdictOf(row({ isNotable: false, p: null }))).toBe('Too few values')
  expect(verdictOf(row({ isNotable: false, difference: null, p: null }))).toBe('')
  expect(verdictOf(row({ measure: { kind: 'volume' }, isNotable: false, p: null }))).toBe('')
})

it('writes intervals of differences with signs', () => {
  expect(endsOf(row().measure, { low: -0.012, high: 0.034 })).toBe('−1.20 to +3.40')
  expect(endsOf({ kind: 'duration', statistic: 'p50' }, { low: -90, high: 5 })).toBe('−1 m 30 s to +5 s')
})

it('links a rate to the affected conversations of a side', () => {
  expect(conversationsBehind(row(), { agentVersionIds: ['v1'] })).toEqual({
    agentVersionIds: ['v1'],
    monitors: [{ id: monitorId, result: 'affected' }],
  })
  expect(conversationsBehind(row({ measure: { kind: 'volume' } }), { agentVersionIds: ['v1'] })).toEqual({
    agentVersionIds: ['v1'],
  })
})

it('lists notable differences first, then the clearest', () => {
  const rows = [
    row({ isNotable: false, p: null, monitorName: 'Untested' }),
    row({ isNotable: false, p: 0.04, monitorName: 'Clear' }),
    row({ isNotable: false, p: 0.9, monitorName: 'Alike' }),
    row({ monitorName: 'Notable' }),
  ]
  expect(rows.toSorted(byClarity).map(({ monitorName }) => monitorName)).toEqual([
    'Notable',
    'Clear',
    'Alike',
    'Untested',
  ])
})

it('has the same number of cells in each row of the file', () => {
  const [head = [], ...rows] = cellsOf([
    row(),
    row({ measure: { kind: 'volume' }, differenceInterval95: null, p: null, adjustedP: null }),
  ])
  expect(rows.map((cells) => cells.length)).toEqual([head.length, head.length])
  expect(rows[0]?.slice(0, 4)).toEqual(['Asks for a person', 'rate', 200, 0.1])
  expect(rows[1]?.slice(-4)).toEqual([null, null, 'yes', 'no'])
})
