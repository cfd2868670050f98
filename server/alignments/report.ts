// Compares an alignment's proposals with the current version, on the test half.

import type { JudgeDefinition, ScoreOutput } from '../monitors/judges/definition.ts'
import type { HalfCounts } from './cases.ts'
import { flipsOf, gainsOf, type Pair } from './gain.ts'
import { needsModel } from './kinds.ts'
import { type BetweenPeople, type CaseResult, type Measures, measure, measurePeople } from './measure.ts'
import { redecide } from './proposals/score.ts'
import type { AlignmentCase, AlignmentResult, Proposal, ProposalKind } from './queries.ts'

export type Report = {
  tuning: HalfCounts
  test: HalfCounts
  baseline: Measures
  people: BetweenPeople | null
}

/** The figures of a proposal. */
export type Measured = Measures & {
  gain: { value: number; low: number; high: number }
  p: number
  isShown: boolean
  fixed: number
  broken: number
}

type StoredAnswers = { cases: AlignmentCase[]; results: AlignmentResult[] }

const resultsOf = (results: AlignmentResult[], kind: string): Map<string, CaseResult> =>
  new Map(results.filter((one) => one.kind === kind).map((one) => [one.conversationId, one]))

/** Returns the test half with the results of the current version and a proposal. */
export const pairsOf = (
  { cases, results }: StoredAnswers,
  { kind, definition }: Pick<Proposal, 'kind' | 'definition'>,
): Pair[] => {
  if (definition === null) return []
  const before = resultsOf(results, 'baseline')
  const answered = resultsOf(results, kind)
  // Definitions were validated when they were proposed. Only scores have these proposals.
  const { output } = definition as unknown as JudgeDefinition
  return cases.flatMap(({ conversationId, half, verdict }): Pair[] => {
    const was = before.get(conversationId)
    if (half !== 'test' || !was) return []
    const is = needsModel(kind) ? answered.get(conversationId) : redecide(output as ScoreOutput, was)
    return is ? [{ conversationId, truth: verdict, before: was, after: is }] : []
  })
}

const halfCounts = (cases: AlignmentCase[], half: AlignmentCase['half']): HalfCounts => {
  const own = cases.filter((one) => one.half === half)
  const affected = own.filter(({ verdict }) => verdict === 'affected').length
  return { conversations: own.length, affected, notAffected: own.length - affected }
}

/** Measures the current version and the people. */
export const reportOf = ({ cases, results }: StoredAnswers): Report => {
  const before = resultsOf(results, 'baseline')
  const compared = cases.flatMap(({ conversationId, half, verdict }) => {
    const result = before.get(conversationId)
    return half === 'test' && result ? [{ truth: verdict, result }] : []
  })
  return {
    tuning: halfCounts(cases, 'tuning'),
    test: halfCounts(cases, 'test'),
    baseline: measure(compared),
    people: measurePeople(cases.map(({ conversationId, votes }) => ({ votes, result: before.get(conversationId) }))),
  }
}

/** Measures all proposals together, because claims about them are corrected for the number of proposals. */
export const measureProposals = (
  known: StoredAnswers,
  proposals: Pick<Proposal, 'kind' | 'definition'>[],
): { kind: ProposalKind; measured: Measured }[] => {
  const tested = proposals
    .filter(({ definition }) => definition !== null)
    .map((proposal) => ({ kind: proposal.kind, pairs: pairsOf(known, proposal) }))
    .map((one) => ({ ...one, flips: flipsOf(one.pairs) }))
  const gains = gainsOf(
    tested.map(({ pairs, flips }) => ({
      fixed: flips.fixed.length,
      broken: flips.broken.length,
      all: pairs.length,
    })),
  )
  return tested.flatMap(({ kind, pairs, flips }, at) => {
    const gain = gains[at]
    if (!gain) return []
    const measured = {
      ...measure(pairs.map(({ truth, after }) => ({ truth, result: after }))),
      gain: { value: gain.value, ...gain.interval },
      p: gain.p,
      isShown: gain.isShown,
      fixed: flips.fixed.length,
      broken: flips.broken.length,
    }
    return [{ kind, measured }]
  })
}
