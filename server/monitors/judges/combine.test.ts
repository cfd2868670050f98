import { describe, expect, it } from 'vitest'
import { polite, rudeness } from '../../../test/support/monitors/model-server.ts'
import type { JudgeVerdict } from './answer.ts'
import { combine, isSettled, type JudgedDefinition } from './combine.ts'
import type { JudgeDefinition } from './definition.ts'

const scored = (result: 'affected' | 'not_affected', score: number | null = null): JudgeVerdict => ({
  status: 'scored',
  result,
  score,
  reasoning: `${result} ${score}`,
  evidence: [{ turn: score ?? 0, quote: 'said' }],
})
const unscored: JudgeVerdict = { status: 'unscored', reason: 'no telling', reasoning: 'Hm.', evidence: [] }
const failed = { status: 'failed', reason: 'down', retryAfterSeconds: 60 } as const

const of = (definition: JudgeDefinition, ...verdicts: JudgedDefinition['verdicts']): JudgedDefinition => ({
  definition,
  verdicts,
  tokens: null,
  cost: null,
})
const no = scored('not_affected')
const yes = scored('affected')

describe('a boolean over several windows', () => {
  it.each([
    ['affected by one of them', [no, yes], { status: 'scored', result: 'affected', reasoning: 'affected null' }],
    ['affected although another is unscored', [unscored, yes], { status: 'scored', result: 'affected' }],
    ['not affected by all of them', [no, no], { status: 'scored', result: 'not_affected', score: null }],
    ['unscored if one is unscored', [no, unscored], { status: 'unscored', result: null, reason: 'no telling' }],
    ['failed when one failed', [no, failed], { status: 'failed', result: null, reason: 'down', retryAfterSeconds: 60 }],
  ] as const)('is %s', (_, verdicts, expected) => {
    expect(combine(of(polite, ...verdicts))).toMatchObject(expected)
  })

  it('stops at the first affected or failed window', () => {
    expect([isSettled(of(polite, no)), isSettled(of(polite, yes)), isSettled(of(polite, failed))]).toEqual([
      false,
      true,
      true,
    ])
  })

  it('has the reasoning of all windows, within the limit', () => {
    const wordy = { ...no, reasoning: 'x'.repeat(1_500) }
    const { reasoning } = combine(of(polite, wordy, wordy, wordy))
    expect(reasoning?.length).toBeLessThanOrEqual(1_500)
    expect(reasoning).toMatch(/^Part 1: x+…\nPart 2: x+…\nPart 3: x+…$/)
  })
})

describe('a score over several windows', () => {
  const low: JudgeDefinition = { ...rudeness, output: { ...rudeness.output, affectedWhen: { op: 'lt', value: 3 } } }

  it('is the one closest to affected', () => {
    const high = combine(of(rudeness, scored('affected', 8), scored('affected', 9), scored('not_affected', 1)))
    expect(high).toMatchObject({ result: 'affected', score: 9, evidence: [{ turn: 9 }] })
    const least = combine(of(low, scored('not_affected', 8), scored('affected', 1), scored('affected', 2)))
    expect(least).toMatchObject({ result: 'affected', score: 1 })
    const none = combine(of(rudeness, scored('not_affected', 2), scored('not_affected', 5)))
    expect(none).toMatchObject({ result: 'not_affected', score: 5 })
  })

  it('needs all windows', () => {
    expect(isSettled(of(rudeness, scored('affected', 8)))).toBe(false)
    expect(combine(of(rudeness, scored('affected', 8), failed))).toMatchObject({ status: 'failed', score: null })
    expect(combine(of(rudeness, scored('not_affected', 2), unscored))).toMatchObject({
      status: 'unscored',
      score: null,
    })
  })
})
