import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assembleTurns } from './made-turns.ts'
import { lengthOfPart, planParts } from './plan.ts'

const second = 1_000
const minute = 60 * second

const speech = (...spans: [startMs: number, endMs: number][]) => spans.map(([startMs, endMs]) => ({ startMs, endMs }))

describe('a plan', () => {
  const agent = speech([500, 3_000], [3_600, 5_000], [20_000, 22_000])
  const customer = speech([8_000, 10_000])
  const options = { durationMs: 30_000, isTimed: true }

  it('sends the speech of a channel together, without silence', () => {
    expect(planParts([agent, customer], options)).toEqual([
      { channel: 0, spans: speech([250, 5_250], [19_750, 22_250]) },
      { channel: 1, spans: speech([7_750, 10_250]) },
    ])
  })

  it('sends each turn by itself to a model that returns no times', () => {
    expect(planParts([agent, customer], { ...options, isTimed: false })).toEqual([
      { channel: 0, spans: speech([250, 5_250]) },
      { channel: 0, spans: speech([19_750, 22_250]) },
      { channel: 1, spans: speech([7_750, 10_250]) },
    ])
  })

  it('is empty if nobody speaks', () => {
    expect(planParts([[], []], options)).toEqual([])
  })

  it('contains all speech once, in parts of at most ten minutes', () => {
    const lengths = fc.array(fc.tuple(fc.nat(30 * second), fc.integer({ min: 100, max: 15 * minute })), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(lengths, fc.boolean(), (gaps, isTimed) => {
        let at = 0
        const segments = gaps.map(([silence, length]) => {
          const startMs = at + silence
          at = startMs + length
          return { startMs, endMs: at }
        })
        const parts = planParts([segments], { durationMs: at, isTimed })
        for (const part of parts) expect(lengthOfPart(part)).toBeLessThanOrEqual(10 * minute)
        const spans = parts.flatMap((part) => part.spans)
        for (const [index, span] of spans.entries()) {
          expect(span.startMs).toBeLessThan(span.endMs)
          expect(span.startMs).toBeGreaterThanOrEqual(spans[index - 1]?.endMs ?? 0)
        }
        const covered = (ms: number) => spans.some(({ startMs, endMs }) => startMs <= ms && ms <= endMs)
        for (const { startMs, endMs } of segments) {
          expect([startMs, (startMs + endMs) / 2, endMs].every(covered)).toBe(true)
        }
      }),
    )
  })
})

describe('turns', () => {
  const roleOf = (channel: number) => (channel === 0 ? ('agent' as const) : ('customer' as const))
  const first = { channel: 0, spans: speech([1_000, 3_000], [10_000, 12_000]) }
  const second = { channel: 1, spans: speech([5_000, 7_000]) }

  it('have the times of the recording, and the order in which they were spoken', () => {
    const segments = [
      { text: 'Hello.', startMs: 100, endMs: 1_900 },
      { text: 'At ten', startMs: 2_600, endMs: 3_500 },
      { text: 'or eleven.', startMs: 3_600, endMs: 4_500 },
    ]
    expect(
      assembleTurns(
        [
          [first, { text: '', segments }],
          [second, { text: 'When?', segments: null }],
        ],
        roleOf,
      ),
    ).toEqual([
      { role: 'agent', channel: 0, text: 'Hello.', startMs: 1_100, endMs: 2_900 },
      { role: 'customer', channel: 1, text: 'When?', startMs: 5_000, endMs: 7_000 },
      { role: 'agent', channel: 0, text: 'At ten or eleven.', startMs: 10_100, endMs: 12_000 },
    ])
  })

  it('leave out parts without text', () => {
    expect(assembleTurns([[first, { text: '', segments: null }]], roleOf)).toEqual([])
  })
})
