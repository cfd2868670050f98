// The rate of a window as people's reviews of a fair sample correct it, beside what the monitor says.

import { tQuantile } from '../../experiments/stats/distributions.ts'
import { correctArm, fewPeople, type ReviewedUnit } from '../../experiments/stats/judge-correction.ts'
import { noSums } from '../../experiments/stats/sums.ts'

const alpha = 0.05

type Counted = { affected: number; notAffected: number }
type Reviewed = { judge: number; human: number }

/** Each call is a unit of its own. Null while too few are reviewed. */
export const correctedRate = ({ affected, notAffected }: Counted, reviews: Reviewed[]) => {
  const units = reviews.map(({ judge, human }): ReviewedUnit => {
    const unreviewed = { unreviewed: 0, unreviewedJudge: 0, unreviewedJudgeSquares: 0 }
    return { reviewed: 1, human, judge, judgeSquares: judge, products: judge * human, ...unreviewed }
  })
  const judgedAffected = reviews.reduce((sum, { judge }) => sum + judge, 0)
  const [all, others] = [affected + notAffected, affected - judgedAffected]
  const count = all - reviews.length
  const sums = {
    units: count,
    count,
    countCount: count,
    sum: others,
    squares: others,
    sumSum: others,
    sumCount: others,
  }
  const corrected = correctArm({ units, others: { ...noSums().a, ...sums } })
  if (!corrected) return null
  const { reviewed, mean } = corrected
  const half = tQuantile(1 - alpha / 2, reviewed - 1) * Math.sqrt(corrected.variance + fewPeople(corrected))
  const within = (rate: number) => Math.min(1, Math.max(0, rate))
  return {
    reviewed,
    shareReviewed: reviewed / all,
    rate: within(mean),
    low: within(mean - half),
    high: within(mean + half),
  }
}
