import type { Static } from 'typebox'
import type { StoredBucket } from '../../buckets/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { type Issue, invalidAll } from '../../platform/errors.ts'
import type { Judgment, StoredReview } from '../queries.ts'
import type { JudgmentInput } from '../schema.ts'
import type { ScorecardResult } from '../scorecards/queries.ts'
import { itemsToJudge } from '../scorecards/totals.ts'
import { listMonitorResults } from './queries.ts'

const nameOf = ({ monitorId, monitorVersion }: Judgment): string => `${monitorId} ${monitorVersion}`

type Version = { monitorId: string; monitorVersion: number }

/**
 * Determines which monitor version each judgment refers to: the newest version with a result, unless the judgment names
 * another version with a result. The monitor of an existing judgment may have been deleted.
 */
export const readJudgments = async (
  db: Db,
  org: OrgId,
  conversationId: string,
  given: Static<typeof JudgmentInput>[],
  judged: Version[] = [],
): Promise<Judgment[]> => {
  const named = given.map((judgment) => ({ ...judgment, monitorId: judgment.monitorId.toLowerCase() }))
  const found = await listMonitorResults(db, org, conversationId, [...new Set(named.map(({ monitorId }) => monitorId))])
  const versions = [...found.map(({ monitorId, version }) => ({ monitorId, monitorVersion: version })), ...judged]
  const issues: Issue[] = []
  const known = new Set<string>()
  const judgments = named.flatMap(({ monitorId, monitorVersion, correctResult, comment = null }, index) => {
    const version = versions.find(
      (one) => one.monitorId === monitorId && (monitorVersion === undefined || one.monitorVersion === monitorVersion),
    )
    if (!version) {
      const path = `judgments[${index}].${monitorVersion === undefined ? 'monitorId' : 'monitorVersion'}`
      issues.push({ path, message: 'has no result for this conversation' })
      return []
    }
    const judgment: Judgment = { ...version, correctResult, comment }
    if (known.has(nameOf(judgment))) issues.push({ path: `judgments[${index}]`, message: 'is listed twice' })
    known.add(nameOf(judgment))
    return [judgment]
  })
  if (issues.length > 0) throw invalidAll(issues)
  return judgments
}

const isBlank = (text: string | null): boolean => text === null || text.trim() === ''

/**
 * Throws unless the review is complete. The bucket requires a judgment for each monitor, or for the items of a
 * scorecard, and may require notes on differences.
 */
export const requireWhole = async (
  db: Db,
  org: OrgId,
  bucket: StoredBucket,
  review: StoredReview,
  scorecards: ScorecardResult[],
): Promise<void> => {
  const { conversationId, judgments, notes } = review
  const others = bucket.monitorIds.filter((id) => !scorecards.some(({ monitorId }) => monitorId === id))
  const required = [...new Set([...others, ...itemsToJudge(scorecards)])]
  const monitorIds = [...new Set([...required, ...judgments.map(({ monitorId }) => monitorId)])]
  const found = await listMonitorResults(db, org, conversationId, monitorIds)
  const issues: Issue[] = required
    .filter((id) => found.some(({ monitorId }) => monitorId === id))
    .filter((id) => !judgments.some(({ monitorId }) => monitorId === id))
    .map((id) => ({ path: 'judgments', message: `must contain a judgment of monitor ${id}` }))
  if (bucket.noteOnDisagreement && isBlank(notes)) {
    judgments.forEach(({ monitorId, monitorVersion, correctResult, comment }, index) => {
      if (!isBlank(comment)) return
      const result = found.find((one) => one.monitorId === monitorId && one.version === monitorVersion)?.result ?? null
      const differs = result !== null && correctResult !== 'unsure' && correctResult !== result
      const message = bucket.blind ? 'is required in this bucket' : 'is required because you disagree with the monitor'
      if (differs || bucket.blind) issues.push({ path: `judgments[${index}].comment`, message })
    })
  }
  if (issues.length > 0) throw invalidAll(issues)
}
