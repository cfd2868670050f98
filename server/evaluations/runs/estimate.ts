import type { JudgeDefinition } from '../../monitors/judges/definition.ts'
import type { StoredMonitor } from '../../monitors/queries.ts'
import { monthOf } from '../../organizations/spending/month.ts'
import { getSpending } from '../../organizations/spending/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { EvaluationDeps } from '../deps.ts'
import { findMeanTokens, measurePopulation, type Population } from './queries.ts'

/** If there are fewer earlier results than this, the lengths of the transcripts give a better estimate. */
const enoughResults = 20

/** Estimates the size of a run and the cost of a judge. */
export const estimateRun = async (deps: EvaluationDeps, org: OrgId, monitor: StoredMonitor, population: Population) => {
  const { db, judge, clock } = deps
  const version = { id: monitor.id, version: monitor.number, isPaidByLength: monitor.kind === 'judge' }
  const { conversations, answered, characters } = await measurePopulation(db, org, population, version)
  const { budgetLeft } = await getSpending(db, org, monthOf(clock.now()))
  const extent = { conversations, answered, budgetLeft }
  if (monitor.kind !== 'judge') return { ...extent, tokens: null, cost: 0, basis: null }
  const left = conversations - answered
  const mean = await findMeanTokens(db, org, monitor.id, monitor.number)
  if (mean.judgements >= enoughResults) {
    const tokens = { input: Math.ceil(left * (mean.input ?? 0)), output: Math.ceil(left * (mean.output ?? 0)) }
    return { ...extent, tokens, cost: mean.cost === null ? null : left * mean.cost, basis: 'results' as const }
  }
  // Definitions were validated for their kind when they were stored.
  const definition = monitor.definition as JudgeDefinition
  return { ...extent, ...judge.estimate(definition, { conversations: left, characters }), basis: 'lengths' as const }
}
