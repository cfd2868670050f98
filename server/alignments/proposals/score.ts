// Proposes other ways to decide, based on existing scores. This needs no model, because the scores stay the same.

import { isAffectedScore, type ScoreDecision, type ScoreOutput } from '../../monitors/judges/definition.ts'
import { isotonic } from '../../statistics/isotonic.ts'
import { type CaseResult, type Compared, isRight } from '../measure.ts'

/** Returns the result that another output derives from the model's answer. */
export const redecide = (output: ScoreOutput, result: CaseResult): CaseResult => {
  if (result.status !== 'scored' || result.score === null) return result
  const isAffected = isAffectedScore(output, result.score)
  if (!isAffected) return { ...result, result: 'not_affected' }
  if (result.isQuoted) return { ...result, result: 'affected' }
  return { ...result, status: 'unscored', result: null }
}

const countRight = (output: ScoreOutput, tuning: readonly Compared[]): number =>
  tuning.filter(({ truth, result }) => isRight({ truth, result: redecide(output, result) })).length

const withDecision = (output: ScoreOutput, decision: ScoreDecision): ScoreOutput => ({ ...output, decision })

/** Returns a number between two scores that has few digits. */
const between = (low: number, high: number): number => {
  const middle = (low + high) / 2
  const short = Number(middle.toPrecision(4))
  return short > low && short < high ? short : middle
}

type Candidate = { threshold: number; right: number }

/**
 * Returns the thresholds between neighboring scores, and how often each of them is right. Goes through the sorted
 * scores once, because there can be as many thresholds as conversations.
 */
const listCandidates = ({ affectedWhen: { op } }: ScoreOutput, tuning: readonly Compared[]): Candidate[] => {
  const isRising = op === 'gte' || op === 'gt'
  const known = tuning.flatMap(({ truth, result: { status, score, isQuoted } }) =>
    status === 'scored' && score !== null
      ? [{ score, asAffected: Number(truth === 'affected' && isQuoted), asOther: Number(truth === 'not_affected') }]
      : [],
  )
  const sorted = known.toSorted((a, b) => a.score - b.score)
  // A threshold below every score puts all of them on its upper side.
  let right = sorted.reduce((sum, { asAffected, asOther }) => sum + (isRising ? asAffected : asOther), 0)
  return sorted.flatMap(({ score, asAffected, asOther }, at) => {
    right += isRising ? asOther - asAffected : asAffected - asOther
    const next = sorted[at + 1]
    return next && next.score > score ? [{ threshold: between(score, next.score), right }] : []
  })
}

/**
 * Returns the threshold that is right most often in the tuning half. If there are several, returns the one closest to
 * the current threshold. Returns undefined if none is better than the current decision.
 */
export const proposeThreshold = (output: ScoreOutput, tuning: readonly Compared[]): ScoreOutput | undefined => {
  const { decision, affectedWhen } = output
  const current = decision && !decision.calibration ? decision.threshold : affectedWhen.value
  const distance = ({ threshold }: Candidate) => Math.abs(threshold - current)
  const candidates = listCandidates(output, tuning)
  const [best] = candidates.sort((a, b) => b.right - a.right || distance(a) - distance(b))
  if (!best || best.right <= countRight(output, tuning)) return undefined
  return withDecision(output, { threshold: best.threshold })
}

/** Above this probability, affected is more likely than not. */
const evenProbability = 0.5

const round = (value: number): number => Number(value.toPrecision(6))

/**
 * Returns an output that converts scores to probabilities, learned from the tuning half, and decides by these
 * probabilities. Returns undefined if these decisions are not right more often in that half than the current ones.
 */
export const proposeCalibration = (output: ScoreOutput, tuning: readonly Compared[]): ScoreOutput | undefined => {
  const { op } = output.affectedWhen
  const direction = op === 'gte' || op === 'gt' ? 1 : -1
  const observations = tuning.flatMap(({ truth, result: { score } }) =>
    score === null ? [] : [{ value: direction * score, holds: truth === 'affected' }],
  )
  if (observations.length === 0) return undefined
  const points = isotonic(observations).map(([value, probability]): [number, number] => [
    direction * value,
    round(probability),
  ])
  const calibration = direction === 1 ? points : points.reverse()
  const proposed = withDecision(output, { threshold: evenProbability, calibration })
  return countRight(proposed, tuning) > countRight(output, tuning) ? proposed : undefined
}
