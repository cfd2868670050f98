// Corrects the affected rate in a period, using people's reviews of a fair sample.

import { mendedVariance } from '../statistics/arm.ts'
import { tQuantile } from '../statistics/distributions.ts'
import { correctArm, fewPeople, type ReviewedUnit } from '../statistics/judge-correction.ts'
import { wilsonOf } from '../statistics/rate-intervals.ts'
import { noSums } from '../statistics/sums.ts'

const alpha = 0.05

type Counted = { affected: number; notAffected: number }
type Reviewed = { judge: number; human: number }

/**
 * Returns the corrected rate, or null as long as there are too few reviews. Each call is its own unit. The interval is
 * Wilson's, for the number of reviews that would be equally precise without a monitor.
 */
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
  const { reviewed, mean, variance } = corrected
  // With few affected judgments or few differences, the spread is not reliable.
  const differing = reviews.reduce((sum, { judge, human }) => sum + Math.abs(human - judge), 0)
  const mended = variance + Math.max(fewPeople(corrected), fewPeople({ human: differing, reviewed }))
  const rate = Math.min(1, Math.max(0, mean))
  const ofPeople = mendedVariance(corrected.human, reviewed) / (reviewed + 2)
  const effective = (reviewed * ofPeople) / mended
  const interval = wilsonOf({ affected: rate * effective, all: effective }, tQuantile(1 - alpha / 2, reviewed - 1))
  return { reviewed, shareReviewed: reviewed / all, rate, ...interval }
}
