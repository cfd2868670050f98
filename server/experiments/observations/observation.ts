// Determines the status of a conversation's outcomes.

import { notApplicable } from '../../filters/category.ts'
import { isValue } from '../../statistics/outcome-sums.ts'
import type { StoredMeasure } from '../queries.ts'
import type { FoundResult } from './queries.ts'
import { failed, missing, observed, pending } from './unit-totals.ts'

/** If there is no result after this time, either no evaluation was queued or the evaluation was abandoned. */
const patienceMs = 24 * 60 * 60 * 1_000

type Outcome = {
  kind: 'boolean' | 'numeric'
  range: { low: number; high: number } | null
  monitorKind: 'rule' | 'judge' | 'external' | 'scorecard'
  measure: StoredMeasure | null
}

type EvaluationTimes = {
  /** The time of the first count. */
  addedAt: Date
  retriedAt: Date | null
  now: Date
  /** Whether a retry is in progress. */
  isRetrying: boolean
}

export type Observation = { status: number; value: number }

const without = (status: number): Observation => ({ status, value: 0 })

const [scored, unscored] = [0, 1]

/**
 * Returns the value of a result, which can be invalid, or undefined if there is no value. If a conversation is unscored
 * because no category fits, its value is false for each category.
 */
const readValue = ({ measure, kind }: Outcome, { status, result, score, categories, field }: FoundResult): unknown => {
  if (measure === null) {
    if (status !== scored) return undefined
    return kind === 'boolean' ? result : score
  }
  if (status > unscored) return undefined
  if (measure.kind === 'field') return typeof field === 'boolean' ? Number(field) : (field ?? undefined)
  const { category } = measure
  const isApplicable = category === notApplicable || categories?.includes(notApplicable) === false
  return categories && isApplicable ? Number(categories.includes(category)) : undefined
}

/** Returns the status of an outcome that applies to the conversation. */
export const observationOf = (
  outcome: Outcome,
  found: FoundResult | undefined,
  asked: EvaluationTimes,
): Observation => {
  const { addedAt, retriedAt, now, isRetrying } = asked
  const isAskedAgain = (since: Date) =>
    isRetrying && retriedAt !== null && since < retriedAt && outcome.monitorKind !== 'external'
  if (!found) {
    const isAwaited = outcome.monitorKind !== 'external' && now.getTime() - addedAt.getTime() < patienceMs
    return without(isAwaited || isAskedAgain(addedAt) ? pending : missing)
  }
  const value = readValue(outcome, found)
  if (value !== undefined) return isValue(value, outcome) ? { status: observed, value } : without(failed)
  if (isAskedAgain(found.evaluatedAt)) return without(pending)
  return without(found.status > unscored ? failed : missing)
}
