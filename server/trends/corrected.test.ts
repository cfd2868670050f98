import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/malformed.ts'
import { share } from '../statistics/agreement.ts'
import { correctedRate } from './corrected.ts'

const seed = 20_261_121
const calls = 2_000

/** Creates calls with results of a monitor with this sensitivity and error rate. */
const simulate = (
  random: ReturnType<typeof seededRandom>,
  truth: number,
  reviewed: number,
  sees: number,
  errs: number,
) => {
  let affected = 0
  const reviews: { judge: number; human: number }[] = []
  for (let call = 0; call < calls; call++) {
    const human = Number(random.chance(truth))
    const judge = Number(random.chance(human ? sees : errs))
    affected += judge
    if (call < reviewed) reviews.push({ judge, human })
  }
  return { counted: { affected, notAffected: calls - affected }, reviews }
}

describe('a corrected rate', () => {
  it.each([
    [0.1, 30, 0.8, 0.1],
    [0.2, 50, 0.8, 0.1],
    [0.02, 200, 0.8, 0.1],
    [0.5, 30, 0.95, 0.02],
  ])(
    'of %d with %i reviews is in its interval as often as stated, for a judge with %d and %d',
    (truth, reviewed, ...judge) => {
      const random = seededRandom(seed)
      const runs = 400
      let [held, heldAsJudged] = [0, 0]
      for (let run = 0; run < runs; run++) {
        const { counted, reviews } = simulate(random, truth, reviewed, ...(judge as [number, number]))
        const corrected = correctedRate(counted, reviews) ?? { low: 1, rate: 0, high: 0 }
        expect(corrected.low <= corrected.rate && corrected.rate <= corrected.high).toBe(true)
        if (corrected.low <= truth && truth <= corrected.high) held++
        const asJudged = share(counted.affected, calls) ?? { low: 1, high: 0 }
        if (asJudged.low <= truth && truth <= asJudged.high) heldAsJudged++
      }
      // The bound is 95% minus two standard errors, because there are so few runs.
      expect(held / runs, `seed ${seed}`).toBeGreaterThan(0.928)
      expect(heldAsJudged / runs, `seed ${seed}`).toBeLessThan(truth === 0.5 ? 0.9 : 0.1)
    },
  )

  it('is missing below thirty reviews, and equals people’s judgments if all calls are reviewed', () => {
    const reviews = Array.from({ length: 40 }, (_, at) => ({ judge: at % 2, human: at % 4 === 1 ? 1 : 0 }))
    expect(correctedRate({ affected: 20, notAffected: 20 }, reviews.slice(0, 29))).toBeNull()
    const all = correctedRate({ affected: 20, notAffected: 20 }, reviews)
    expect(all).toMatchObject({ reviewed: 40, shareReviewed: 1, rate: 0.25 })
    const none = reviews.map(({ judge }) => ({ judge, human: 0 }))
    expect(correctedRate({ affected: 500, notAffected: 500 }, none)).toMatchObject({ rate: 0, low: 0 })
  })
})
