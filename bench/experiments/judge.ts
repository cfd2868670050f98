// Simulates a judge that makes errors, and people who review some of its results.

import { estimateArms } from '../../server/statistics/arm.ts'
import { fixedDifference } from '../../server/statistics/fixed.ts'
import { correctedDifference, type ReviewedArm, type ReviewedUnit } from '../../server/statistics/judge-correction.ts'
import { addUnit, addValue, noSums, noUnit, noValueSums } from '../../server/statistics/sums.ts'
import type { UniformRandom } from '../../test/support/spikes/random-hours.ts'
import { affected, designOf } from './streams.ts'
import { defineStudy, percent, shareOf, whole } from './study.ts'

const conversations = 1_200

type Truth = { rate: number; sensitivity: number; specificity: number }

const converse = (random: UniformRandom, { rate, sensitivity, specificity }: Truth) => {
  const human = affected(random, rate)
  return { human, judge: affected(random, human === 1 ? sensitivity : 1 - specificity) }
}

/** Returns an arm with the judge's results for all conversations, and people's judgments of the first ones. */
const judgedArm = (random: UniformRandom, truth: Truth, reviewed: number) => {
  const units: ReviewedUnit[] = []
  let others = noSums()
  let all = 0
  for (let count = 0; count < conversations; count++) {
    const { human, judge } = converse(random, truth)
    all += judge
    if (count >= reviewed) {
      others = addUnit(others, { ...noUnit, a: addValue(noValueSums, judge) })
      continue
    }
    const unreviewed = { unreviewed: 0, unreviewedJudge: 0, unreviewedJudgeSquares: 0 }
    units.push({ reviewed: 1, human, judge, judgeSquares: judge, products: human * judge, ...unreviewed })
  }
  const arm: ReviewedArm = { units, others: others.a }
  return { arm, affected: all }
}

type Setting = { name: string; a: Truth; b: Truth; reviewed: number }

const usual: Truth = { rate: 0.1, sensitivity: 0.8, specificity: 0.9 }

const pairs: Omit<Setting, 'reviewed'>[] = [
  { name: '10% and 10%, same errors', a: usual, b: usual },
  { name: '10% and 20%, same errors', a: usual, b: { ...usual, rate: 0.2 } },
  { name: '10% and 10%, more errors in B', a: usual, b: { ...usual, specificity: 0.8 } },
]

export const judge = defineStudy({
  title: 'Judge errors corrected by reviews',
  about:
    'The judge detects 80% of affected conversations and is right about 90% of those that are not affected. In ' +
    'the last two rows, it is right about only 80% of those in arm B. Each arm has 1,200 conversations, and ' +
    'people reviewed a random sample of 50 or 200 of them. There is one look. The table shows the share of ' +
    'experiments in which three intervals contain the true difference: the ordinary interval without ' +
    'corrections, the ordinary interval corrected by reviews, and the always-valid interval corrected by reviews.',
  runs: 5_000,
  settings: pairs.flatMap((pair) => [50, 200].map((reviewed): Setting => ({ ...pair, reviewed }))),
  run: ({ a, b, reviewed }, random) => {
    const design = designOf('boolean')
    const [armA, armB] = [judgedArm(random, a, reviewed), judgedArm(random, b, reviewed)]
    const difference = b.rate - a.rate
    const holds = (interval: { low: number; high: number } | null | undefined) =>
      interval !== null && interval !== undefined && interval.low <= difference && difference <= interval.high
    const uncorrected = fixedDifference(judgedArms(armA.affected, armB.affected), design)
    const corrected = correctedDifference(armA.arm, armB.arm, design)
    return {
      uncorrected: holds(uncorrected.interval),
      fixed: holds(corrected?.fixed),
      anytime: holds(corrected?.anytime),
    }
  },
  head: [
    'true rates, errors of the judge',
    'reviewed in each arm',
    'as judged',
    'corrected',
    'corrected, always-valid',
  ],
  row: ({ name, reviewed }, outcomes) => {
    const share = (which: 'uncorrected' | 'fixed' | 'anytime') => shareOf(outcomes, (outcome) => outcome[which])
    const [fixed, anytime] = [share('fixed'), share('anytime')]
    const named = `${name}, ${reviewed} reviews`
    return {
      cells: [name, whole(reviewed), percent(share('uncorrected')), percent(fixed), percent(anytime)],
      judged: [
        { name: `corrected, ${named}`, share: fixed, runs: outcomes.length, atLeast: 0.95 },
        { name: `corrected and always-valid, ${named}`, share: anytime, runs: outcomes.length, atLeast: 0.95 },
      ],
    }
  },
})

/** Returns arms in which each conversation is its own unit. */
const judgedArms = (affectedA: number, affectedB: number) => {
  const arm = (sum: number) => ({
    shift: 0,
    units: conversations,
    count: conversations,
    countCount: conversations,
    sum,
    squares: sum,
    sumSum: sum,
    sumCount: sum,
  })
  return estimateArms({ ...noSums(), a: arm(affectedA), b: arm(affectedB) }, 'boolean')
}
