// Selects examples from the tuning half: the most disputed conversations, and those that are most similar to them.

import { similarityOf, type Words } from '../../monitors/judges/similarity.ts'
import { type CaseResult, isRight } from '../measure.ts'
import type { Truth, Verdict } from '../truth.ts'

export type Candidate = { conversationId: string; truth: Truth; result: CaseResult; words: Words }

export type ChosenExample = { conversationId: string; isDisputed: boolean }

/** The maximum number of disputed examples, which are part of every request. */
const mostDisputed = 4
/** The maximum number of similar examples. A request only contains those that are similar to its conversation. */
const mostNear = 8

/** Returns how disputed a conversation is. It is disputed if the judge is wrong, or if people disagree. */
const disputeOf = ({ truth: { verdict, votes }, result }: Candidate): number => {
  const others = votes.filter((vote) => vote !== verdict).length
  const isWrong = !isRight({ truth: verdict, result })
  return Number(isWrong) + (votes.length === 0 ? 0 : others / votes.length)
}

/** Sorts by dispute. Among equals, newer conversations come first, because their IDs are higher. */
const byDispute = (a: Candidate, b: Candidate): number =>
  disputeOf(b) - disputeOf(a) || (a.conversationId < b.conversationId ? 1 : -1)

/** Takes the most disputed conversations, alternating between the verdicts. */
const takeDisputed = (candidates: readonly Candidate[]): Candidate[] => {
  const disputed = candidates.filter((one) => disputeOf(one) > 0).toSorted(byDispute)
  const of = (verdict: Verdict) => disputed.filter(({ truth }) => truth.verdict === verdict)
  const lists = [of('affected'), of('not_affected')]
  const first = disputed[0]?.truth.verdict === 'not_affected' ? 1 : 0
  const taken: Candidate[] = []
  for (let turn = first; taken.length < Math.min(mostDisputed, disputed.length); turn++) {
    const next = lists[turn % 2]?.shift()
    if (next) taken.push(next)
  }
  return taken
}

/**
 * Selects conversations that are similar to the disputed ones but have the other verdict, so that the model can learn
 * the difference.
 */
const takeNear = (disputed: readonly Candidate[], candidates: readonly Candidate[]): Candidate[] => {
  const rankings = disputed.map((one) =>
    candidates
      .filter((other) => !disputed.includes(other) && other.truth.verdict !== one.truth.verdict)
      .map((other) => ({ other, similarity: similarityOf(one.words, other.words) }))
      .sort((a, b) => b.similarity - a.similarity || byDispute(a.other, b.other))
      .map(({ other }) => other),
  )
  const taken = new Set<Candidate>()
  const longest = Math.max(0, ...rankings.map(({ length }) => length))
  for (let rank = 0; rank < longest; rank++) {
    for (const ranking of rankings) {
      const next = ranking[rank]
      if (next && taken.size < mostNear) taken.add(next)
    }
  }
  return [...taken]
}

/** Returns no examples if the judge and the people agree on everything. */
export const chooseExamples = (candidates: readonly Candidate[]): ChosenExample[] => {
  const disputed = takeDisputed(candidates)
  return [
    ...disputed.map(({ conversationId }) => ({ conversationId, isDisputed: true })),
    ...takeNear(disputed, candidates).map(({ conversationId }) => ({ conversationId, isDisputed: false })),
  ]
}
