// Determines the correct answer for each conversation from people's judgments.

export type Verdict = 'affected' | 'not_affected'

/** A judgment in a completed review. */
export type Judgment = {
  conversationId: string
  reviewId: string
  reviewerUserId: string
  adjudicates: boolean
  correctResult: Verdict | 'unsure'
  completedAt: Date
}

export type Truth = {
  verdict: Verdict
  /** The review that decided, or the latest one that agrees with the majority. */
  reviewId: string
  /** The latest judgment of each person, without unsure judgments and adjudications. */
  votes: Verdict[]
}

const latestFirst = (judgments: readonly Judgment[]): Judgment[] =>
  judgments.toSorted((a, b) => b.completedAt.getTime() - a.completedAt.getTime() || (a.reviewId < b.reviewId ? 1 : -1))

const isSure = (judgment: Judgment): judgment is Judgment & { correctResult: Verdict } =>
  judgment.correctResult !== 'unsure'

/** Returns the correct answer according to the judgments of one conversation, or undefined if people are undecided. */
const decide = (judgments: readonly Judgment[]): Truth | undefined => {
  const sorted = latestFirst(judgments)
  const own = [
    ...Map.groupBy(
      sorted.filter(({ adjudicates }) => !adjudicates),
      ({ reviewerUserId }) => reviewerUserId,
    ),
  ]
  const sure = own.flatMap(([, [latest]]) => (latest && isSure(latest) ? [latest] : []))
  const votes = sure.map(({ correctResult }) => correctResult)
  const adjudication = sorted.find(({ adjudicates }) => adjudicates)
  if (adjudication) {
    return isSure(adjudication)
      ? { verdict: adjudication.correctResult, reviewId: adjudication.reviewId, votes }
      : undefined
  }
  const affected = votes.filter((vote) => vote === 'affected').length
  if (affected * 2 === votes.length) return undefined
  const verdict = affected * 2 > votes.length ? 'affected' : 'not_affected'
  const deciding = latestFirst(sure).find(({ correctResult }) => correctResult === verdict)
  return deciding && { verdict, reviewId: deciding.reviewId, votes }
}

/**
 * Returns the correct answer for each conversation: the adjudication, or otherwise the majority of people who were
 * sure. Omits ties.
 */
export const truthsOf = (judgments: readonly Judgment[]): Map<string, Truth> => {
  const truths = new Map<string, Truth>()
  for (const [conversationId, own] of Map.groupBy(judgments, (judgment) => judgment.conversationId)) {
    const truth = decide(own)
    if (truth) truths.set(conversationId, truth)
  }
  return truths
}
