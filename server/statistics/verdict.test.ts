import { describe, expect, it } from 'vitest'
import { boolean, numeric, tableSums } from '../../test/support/statistics.ts'
import { estimateArms } from './arm.ts'
import { differenceOf } from './outcome.ts'
import { type Sums, sumsOf } from './sums.ts'
import { type Concern, concernsOf, type Shown, verdictOf } from './verdict.ts'

const running = 'The experiment continues until an operator finishes it.'

const told = (sums: Sums, design = boolean, more: Partial<Shown> = {}) => {
  const arms = estimateArms(sums, design.kind)
  const { anytime } = differenceOf(arms, design)
  return verdictOf({ arms, anytime, worstCase: null, concerns: [], better: null, finished: false, ...more }, design)
}

const higher = tableSums(120, 600, 170, 590)
const lower = tableSums(170, 590, 120, 600)
const unclear = tableSums(40, 200, 62, 210)
const scores = (a: number[], b: number[]) =>
  sumsOf([...a.map((value) => ({ a: [value], b: [] })), ...b.map((value) => ({ a: [], b: [value] }))], 'numeric')
const spread = (from: number) => Array.from({ length: 100 }, (_, at) => from + (at % 5) / 10)

describe('the verdict', () => {
  it('tells a difference in points, which holds at any look', () => {
    expect(told(higher)).toEqual({
      verdict: 'b_higher',
      concerns: [],
      text: expect.stringMatching(
        /^B is affected more often than A by 1\.14 to 16\.5 points; this holds at any look at the 95% level\. The/,
      ),
    })
    expect(told(lower).text).toBe(
      `B is affected less often than A by 1.14 to 16.5 points; this holds at any look at the 95% level. ${running}`,
    )
    expect(told(scores(spread(3), spread(4)), numeric).text).toMatch(
      /^B scores higher than A by 0\.\d+ to 1\.\d+; this/,
    )
  })

  it('says when what is unobserved cannot change it', () => {
    expect(told(higher, boolean, { worstCase: { signSurvives: true } }).text).toContain(
      'level, and B is measured higher even if all unobserved were against it.',
    )
    expect(told(higher, boolean, { worstCase: { signSurvives: false } }).text).not.toContain('unobserved')
  })

  it('calls it better or worse only as the monitor declares', () => {
    expect(told(higher).text).not.toMatch(/better|worse/)
    expect(told(higher, boolean, { better: 'lower' }).text).toContain('16.5 points, which is worse; this')
    expect(told(lower, boolean, { better: 'lower' }).text).toContain('points, which is better; this')
  })

  it('tells what the data leave open', () => {
    expect(told(unclear)).toMatchObject({
      verdict: 'no_difference_shown',
      text: `Data are compatible with B between -4.09 and 23.1 points relative to A. ${running}`,
    })
  })

  it('tells when it is too early', () => {
    expect(told(tableSums(1, 1, 3, 9)).verdict).toBe('too_early')
    expect(told(scores([3, 3, 3], [4, 4, 4]), numeric)).toMatchObject({
      verdict: 'too_early',
      text: expect.stringContaining('the same'),
    })
    expect(told(scores([3, 4], [4, 5]), numeric).text).toContain('too few observations')
  })

  it('trusts no difference that may not come from the prompt', () => {
    const concerns: Concern[] = ['mismatch', 'routed_per_conversation']
    expect(told(higher, boolean, { concerns })).toEqual({
      verdict: 'not_trustworthy',
      concerns,
      text:
        `The measured difference may not come from the prompt: the arms do not get the ` +
        `shares of units that are expected; callers who return change between the arms as if by chance. ${running}`,
    })
  })

  it('collects what is of concern', () => {
    const fine = { sampleRatio: 'fits', concurrency: 'concurrent', routing: 'stable' } as const
    const of = (health: { [part in keyof typeof fine]: Parameters<typeof concernsOf>[0][part]['status'] }) =>
      concernsOf({
        sampleRatio: { status: health.sampleRatio },
        concurrency: { status: health.concurrency },
        routing: { status: health.routing },
      })
    expect(of(fine)).toEqual([])
    expect(of({ sampleRatio: 'watch', concurrency: 'cannot_tell', routing: 'unstable_routing' })).toEqual([])
    expect(
      of({ sampleRatio: 'mismatch', concurrency: 'arms_not_concurrent', routing: 'routed_per_conversation' }),
    ).toEqual(['mismatch', 'arms_not_concurrent', 'routed_per_conversation'])
  })

  it('never tells anyone what to do', () => {
    const concerns: Concern[] = ['mismatch', 'arms_not_concurrent', 'routed_per_conversation']
    const texts = [higher, lower, unclear, tableSums(0, 0, 0, 0), tableSums(2, 4, 3, 4)].flatMap((sums) =>
      [boolean, numeric].flatMap((design) =>
        ([null, 'higher', 'lower'] as const).flatMap((better) =>
          [[], concerns].flatMap((each) =>
            [true, false].map((finished) => {
              const worstCase = { signSurvives: finished }
              return told(sums, design, { better, concerns: each, finished, worstCase }).text
            }),
          ),
        ),
      ),
    )
    const texted = new Set(texts)
    expect(texted.size).toBeGreaterThan(15)
    for (const text of texted) {
      expect(text).not.toMatch(/\b(winner|significant|stop|ship|conclude|enough|done|remaining)\b/i)
      expect(text).not.toMatch(/NaN|null|undefined|Infinity/)
      expect(text).toMatch(/(continues until an operator finishes it|An operator has finished the experiment)\.$/)
    }
  })
})
