// Selects the judged conversations of an alignment, and reports what is missing if there are too few.

import { exampleIdsOf } from '../monitors/learned.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type AlignmentCase, listJudgments, listLearnedFrom } from './queries.ts'
import { type Half, halfOf } from './split.ts'
import { truthsOf, type Verdict } from './truth.ts'

/** The minimum number of conversations in each half. Smaller halves can't show a difference. */
const fewest = { conversations: 20, ofEachVerdict: 5 }

export type HalfCounts = { conversations: number; affected: number; notAffected: number }

export type Selected = { cases: AlignmentCase[]; tuning: HalfCounts; test: HalfCounts; missing: string | null }

const countsOf = (cases: readonly AlignmentCase[], half: Half): HalfCounts => {
  const own = cases.filter((one) => one.half === half)
  const of = (verdict: Verdict) => own.filter((one) => one.verdict === verdict).length
  return { conversations: own.length, affected: of('affected'), notAffected: of('not_affected') }
}

const missingIn = (half: Half, { conversations, affected, notAffected }: HalfCounts): string[] => {
  const { conversations: needed, ofEachVerdict } = fewest
  const parts = [
    [needed - conversations, 'judged conversations'],
    [ofEachVerdict - affected, 'judged as affected'],
    [ofEachVerdict - notAffected, 'judged as not affected'],
  ] as const
  return parts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what} in the ${half} half`] : []))
}

const missingFrom = (tuning: HalfCounts, test: HalfCounts): string | null => {
  const parts = [...missingIn('tuning', tuning), ...missingIn('test', test)]
  if (parts.length === 0) return null
  const { conversations, ofEachVerdict } = fewest
  return (
    `An alignment needs ${conversations} judged conversations in each half, at least ${ofEachVerdict} of them affected and ` +
    `${ofEachVerdict} not affected. Missing: ${parts.join(', ')}. Judge more conversations: they are split evenly.`
  )
}

/** The maximum number of judgments to read, newest first. */
const mostJudgments = 20_000

type Monitor = Pick<StoredMonitor, 'id' | 'definition'>

/**
 * Selects the newest judged conversations for each half, at most `most` of each. Conversations that the judge has
 * learned from are in the tuning half, and so are other conversations with the same customers.
 */
export const selectCases = async (db: Db, org: OrgId, monitor: Monitor, most: number): Promise<Selected> => {
  const judgments = await listJudgments(db, org, monitor.id, mostJudgments)
  const learned = new Set([...exampleIdsOf(monitor.definition), ...(await listLearnedFrom(db, org, monitor.id))])
  const customers = new Set(
    judgments.filter(({ conversationId }) => learned.has(conversationId)).flatMap(({ customerId }) => customerId ?? []),
  )
  const truths = truthsOf(judgments)
  const known = new Map(judgments.map((judgment) => [judgment.conversationId, judgment]))
  const all = [...truths].flatMap(([conversationId, { verdict, reviewId, votes }]) => {
    const { customerId = null, startedAt = new Date(0) } = known.get(conversationId) ?? {}
    const isLearned = learned.has(conversationId) || (customerId !== null && customers.has(customerId))
    const half = isLearned ? 'tuning' : halfOf(org, { id: conversationId, customerId })
    return [{ startedAt, made: { conversationId, half, verdict, reviewId, votes } }]
  })
  const newest = (half: Half): AlignmentCase[] =>
    all
      .filter(({ made }) => made.half === half)
      .sort(
        (a, b) =>
          b.startedAt.getTime() - a.startedAt.getTime() || (a.made.conversationId < b.made.conversationId ? 1 : -1),
      )
      .slice(0, most)
      .map(({ made }) => made)
  const cases = [...newest('tuning'), ...newest('test')]
  const [tuning, test] = [countsOf(cases, 'tuning'), countsOf(cases, 'test')]
  return { cases, tuning, test, missing: missingFrom(tuning, test) }
}
