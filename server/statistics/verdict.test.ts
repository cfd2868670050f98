import { describe, expect, it } from 'vitest'
import { boolean, numeric, tableSums } from '../../test/support/statistics.ts'
import { estimateArms } from './arm.ts'
import { differenceOf } from './outcome.ts'
import { type Sums, sumsOf } from './sums.ts'
import { type Concern, concernsOf, type Shown, verdictOf } from './verdict.ts'

const running = 'The experiment runs until an admin finishes it.'

const verdict = (sums: Sums, design = boolean, more: Partial<Shown> = {}) => {
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
  it('states a difference in points, with an interval that is valid at any time', () => {
    expect(verdict(higher)).toEqual({
      verdict: 'b_higher',
      concerns: [],
      text: expect.stringMatching(
        /^B is affected 1\.14 to 16\.5 points more often than A\. This 95% interval is valid at any time\. The/,
      ),
    })
    expect(verdict(lower).text).toBe(
      `B is affected 1.14 to 16.5 points less often than A. This 95% interval is valid at any time. ${running}`,
    )
    expect(verdict(scores(spread(3), spread(4)), numeric).text).toMatch(
      /^B scores 0\.\d+ to 1\.\d+ higher than A\. This/,
    )
  })

  it('says what is measured of the monitor', () => {
    const effect = (sums: Sums, design: typeof boolean, measure: 'category' | 'field') =>
      verdict(sums, design, { measure }).text.split('. ')[0]
    expect(effect(higher, boolean, 'category')).toBe('B has this category 1.14 to 16.5 points more often than A')
    expect(effect(lower, boolean, 'field')).toBe('This field is true in B 1.14 to 16.5 points less often than in A')
    expect(effect(scores(spread(3), spread(4)), numeric, 'field')).toMatch(
      /^The mean of B is 0\.\d+ to 1\.\d+ higher than/,
    )
  })

  it('says if missing results cannot change the sign', () => {
    expect(verdict(higher, boolean, { worstCase: { signSurvives: true } }).text).toContain(
      'B would still be higher if all missing results went against it.',
    )
    expect(verdict(higher, boolean, { worstCase: { signSurvives: false } }).text).not.toContain('missing')
  })

  it('only calls B better or worse if the monitor declares a direction', () => {
    expect(verdict(higher).text).not.toMatch(/better|worse/)
    expect(verdict(higher, boolean, { better: 'lower' }).text).toContain('more often than A, which is worse. This')
    expect(verdict(lower, boolean, { better: 'lower' }).text).toContain('less often than A, which is better. This')
  })

  it('states the range of possible differences if there is no clear one', () => {
    expect(verdict(unclear)).toMatchObject({
      verdict: 'no_difference_shown',
      text: `No clear difference yet. B could be 4.09 points lower to 23.1 points higher than A. ${running}`,
    })
  })

  it('says when it is too early to tell', () => {
    expect(verdict(tableSums(1, 1, 3, 9)).verdict).toBe('too_early')
    expect(verdict(scores([3, 3, 3], [4, 4, 4]), numeric)).toMatchObject({
      verdict: 'too_early',
      text: expect.stringContaining('the same'),
    })
    expect(verdict(scores([3, 4], [4, 5]), numeric).text).toContain('too few observations')
  })

  it('does not trust a difference that may not be caused by the prompt', () => {
    const concerns: Concern[] = ['mismatch', 'routed_per_conversation']
    expect(verdict(higher, boolean, { concerns })).toEqual({
      verdict: 'not_trustworthy',
      concerns,
      text:
        'The difference may not be caused by the prompt: the traffic split differs from the expected one; ' +
        `returning callers get a random variant each time. ${running}`,
    })
  })

  it('collects the concerns', () => {
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

  it('never recommends what to do', () => {
    const concerns: Concern[] = ['mismatch', 'arms_not_concurrent', 'routed_per_conversation']
    const texts = [higher, lower, unclear, tableSums(0, 0, 0, 0), tableSums(2, 4, 3, 4)].flatMap((sums) =>
      [boolean, numeric].flatMap((design) =>
        ([null, 'higher', 'lower'] as const).flatMap((better) =>
          [[], concerns].flatMap((each) =>
            [true, false].map((finished) => {
              const worstCase = { signSurvives: finished }
              return verdict(sums, design, { better, concerns: each, finished, worstCase }).text
            }),
          ),
        ),
      ),
    )
    const distinct = new Set(texts)
    expect(distinct.size).toBeGreaterThan(15)
    for (const text of distinct) {
      expect(text).not.toMatch(/\b(winner|significant|stop|ship|conclude|enough|done|remaining)\b/i)
      expect(text).not.toMatch(/NaN|null|undefined|Infinity/)
      expect(text).toMatch(/(runs until an admin finishes it|The experiment is finished)\.$/)
    }
  })
})
