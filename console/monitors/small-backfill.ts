// Evaluates stored conversations automatically if that is fast and costs almost nothing, so that a new monitor shows
// results immediately.

import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { type Monitor, requestEvaluation } from './queries.ts'

type Estimate = Schemas['EvaluationEstimate']

const days = 30
/** Rules and scorecards evaluate this many conversations in a few seconds. */
const mostForRule = 10_000
const mostForJudge = 100
const mostDollars = 0.5

export const isSmall = (kind: Monitor['kind'], { conversations, answered, cost, budgetLeft }: Estimate): boolean => {
  if (conversations === 0) return false
  if (kind === 'rule' || kind === 'scorecard') return conversations <= mostForRule
  if (cost === null) return false
  return conversations - answered <= mostForJudge && cost <= Math.min(mostDollars, budgetLeft ?? mostDollars)
}

/**
 * Returns the number of conversations that are being evaluated. Returns 0 if there are too many, or if the run fails.
 */
export const startSmallBackfill = async ({ id, kind }: Monitor): Promise<number> => {
  const until = new Date()
  const since = new Date(until.getTime() - days * 86_400_000)
  const send = (dryRun: boolean) =>
    requestEvaluation(id, { since: since.toISOString(), until: until.toISOString(), dryRun })
  try {
    const estimate = (await send(true)) as Estimate
    if (!isSmall(kind, estimate)) return 0
    await send(false)
    await queryClient.invalidateQueries({ queryKey: ['monitors', id, 'evaluations'] })
    return estimate.conversations
  } catch {
    // The monitor is already saved, and its page also offers a backfill.
    return 0
  }
}
