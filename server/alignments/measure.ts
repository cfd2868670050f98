// Measures how well a judge agrees with people, and how well people agree with each other.

import { krippendorffsAlpha, type RatedUnit, withInterval } from '../agreement/between-people.ts'
import { type Estimate, kappa, type Matrix, share } from '../statistics/agreement.ts'
import type { Verdict } from './truth.ts'

/** A judge's result for one conversation. */
export type CaseResult = {
  status: 'scored' | 'unscored' | 'failed'
  result: Verdict | null
  score: number | null
  /** Whether the judge quotes the transcript. A result without a quote is never affected. */
  isQuoted: boolean
}

export type Compared = { truth: Verdict; result: CaseResult }

/** Returns whether the judge's result is correct. Unscored results are not correct. */
export const isRight = ({ truth, result }: Compared): boolean => result.status === 'scored' && result.result === truth

export type Measures = {
  conversations: number
  matrix: Matrix
  unscored: number
  failed: number
  precision: Estimate | null
  recall: Estimate | null
  agreement: Estimate | null
  kappa: Estimate | null
}

/**
 * Measures agreement with the correct answers. Precision, recall, and kappa only include conversations that the judge
 * has decided. Agreement includes all of them.
 */
export const measure = (compared: readonly Compared[]): Measures => {
  const count = (holds: (one: Compared) => boolean) => compared.filter(holds).length
  const cell = (truth: Verdict, said: Verdict) =>
    count((one) => one.truth === truth && one.result.status === 'scored' && one.result.result === said)
  const matrix = {
    truePositives: cell('affected', 'affected'),
    falsePositives: cell('not_affected', 'affected'),
    falseNegatives: cell('affected', 'not_affected'),
    trueNegatives: cell('not_affected', 'not_affected'),
  }
  const { truePositives, falsePositives, falseNegatives } = matrix
  return {
    conversations: compared.length,
    matrix,
    unscored: count(({ result }) => result.status === 'unscored'),
    failed: count(({ result }) => result.status === 'failed'),
    precision: share(truePositives, truePositives + falsePositives),
    recall: share(truePositives, truePositives + falseNegatives),
    agreement: share(count(isRight), compared.length),
    kappa: kappa(matrix),
  }
}

/** A conversation that several people judged, and the judge's result. */
export type Shared = { votes: Verdict[]; result: CaseResult | undefined }

export type BetweenPeople = {
  conversations: number
  /** The rate at which two people give the same answer. */
  agreement: Estimate
  /** The rate at which the judge and a person give the same answer, for the same conversations. */
  judgeAgreement: Estimate
  krippendorffsAlpha: { value: number; low: number | null; high: number | null } | null
  warning: string | null
}

/** With fewer conversations, a comparison is meaningless. */
const enoughShared = 10

const unclear =
  'People agree less with each other than with the judge. Clarify the criteria and adjudicate disagreements before you ' +
  'improve the judge, because nobody can agree better with people than they agree with each other.'

const alikeAmong = (votes: Verdict[]): number => {
  const affected = votes.filter((vote) => vote === 'affected').length
  const others = votes.length - affected
  return (affected * (affected - 1) + others * (others - 1)) / (votes.length * (votes.length - 1))
}

/** Returns the agreement between people, or null if no conversation was judged by at least two. */
export const measurePeople = (shared: readonly Shared[]): BetweenPeople | null => {
  const judged = shared.filter(({ votes, result }) => votes.length > 1 && result !== undefined)
  const total = (of: (one: Shared) => number) => judged.reduce((sum, one) => sum + of(one), 0)
  const agreement = share(
    total(({ votes }) => alikeAmong(votes)),
    judged.length,
  )
  const judgeAgreement = share(
    total(({ votes, result }) => votes.filter((vote) => result?.result === vote).length / votes.length),
    judged.length,
  )
  if (!agreement || !judgeAgreement) return null
  const units = judged.map(({ votes }): RatedUnit => {
    const affected = votes.filter((vote) => vote === 'affected').length
    return { counts: [affected, votes.length - affected], times: 1 }
  })
  const isUnclear = judged.length >= enoughShared && agreement.value < judgeAgreement.value
  return {
    conversations: judged.length,
    agreement,
    judgeAgreement,
    krippendorffsAlpha: withInterval(units, krippendorffsAlpha),
    warning: isUnclear ? unclear : null,
  }
}
