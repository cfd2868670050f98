// Adds up a review's scorecards from its judgments. Reviewers judge items, never a scorecard itself.

import type { StoredBucket } from '../../buckets/queries.ts'
import { type ItemOutcome, type ScorecardItem, type Total, totalOf } from '../../monitors/scorecards/algebra.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Judgment, StoredReview } from '../queries.ts'
import { listScorecardResults, type ScorecardResult } from './queries.ts'

/** Returns the bucket's scorecards that have a result for the conversation. */
export const findScorecards = async (
  db: Db,
  org: OrgId,
  conversationId: string,
  bucket: StoredBucket | undefined,
): Promise<ScorecardResult[]> =>
  bucket && bucket.monitorIds.length > 0 ? listScorecardResults(db, org, conversationId, bucket.monitorIds) : []

const foundItems = ({ breakdown }: ScorecardResult) =>
  breakdown.sections.flatMap(({ items }) => items.filter(({ outcome }) => outcome !== 'missing'))

/** Returns the monitors to judge instead of scorecards: their items that have a result. */
export const itemsToJudge = (scorecards: ScorecardResult[]): string[] =>
  scorecards.flatMap((scorecard) => foundItems(scorecard).map(({ monitorId }) => monitorId))

type JudgmentInput = { monitorId: string; monitorVersion?: number }

/**
 * Makes judgments of items refer to the versions that count for scorecards, unless the judgments name other versions.
 */
export const withItemVersions = <J extends JudgmentInput>(given: J[], scorecards: ScorecardResult[]): J[] => {
  const versions = new Map(
    scorecards.flatMap((scorecard) => foundItems(scorecard).map(({ monitorId, version }) => [monitorId, version])),
  )
  return given.map((judgment) => {
    const version = versions.get(judgment.monitorId.toLowerCase())
    return judgment.monitorVersion === undefined && version ? { ...judgment, monitorVersion: version } : judgment
  })
}

type Judged = {
  judgments: Judgment[]
  /** Whether the reviewer must not see the items' results. */
  isBlind: boolean
}

const outcomeOf = ({ judgments, isBlind }: Judged, monitorId: string, stored: ItemOutcome): ItemOutcome => {
  const judged = judgments.find((judgment) => judgment.monitorId === monitorId)?.correctResult
  if (judged === 'affected') return 'affected'
  if (judged === 'not_affected') return 'passed'
  if (isBlind) return 'unscored'
  // Nobody can judge an item without a result. A result that is not applicable stays that way until someone judges
  // otherwise.
  return stored === 'missing' || stored === 'not_applicable' ? stored : 'unscored'
}

/** Returns a scorecard's total according to a review's judgments. */
export const judgedTotal = (judged: Judged, { definition, breakdown }: ScorecardResult): Total => {
  const stored = new Map(
    breakdown.sections.flatMap(({ items }) => items.map((item) => [item.monitorId, item] as const)),
  )
  return totalOf(definition, ({ monitorId }: ScorecardItem) => {
    const { outcome = 'missing', version = null } = stored.get(monitorId) ?? {}
    return { outcome: outcomeOf(judged, monitorId, outcome), version }
  })
}

const resultOf = ({ isAffected }: Total): Judgment['correctResult'] =>
  isAffected === null ? 'unsure' : isAffected ? 'affected' : 'not_affected'

/**
 * Returns the scorecard judgments that follow from judgments of the items, unless the reviewer judged the scorecard.
 */
export const judgmentsOfScorecards = ({ judgments }: StoredReview, scorecards: ScorecardResult[]): Judgment[] =>
  scorecards
    .filter(({ monitorId }) => !judgments.some((judgment) => judgment.monitorId === monitorId))
    .map((scorecard) => ({
      monitorId: scorecard.monitorId,
      monitorVersion: scorecard.version,
      correctResult: resultOf(judgedTotal({ judgments, isBlind: false }, scorecard)),
      comment: null,
    }))
