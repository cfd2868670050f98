// Replaces scorecards with their items, because reviewers judge the items.

import type { Schemas } from '../api/schema.d.ts'

type Scorecard = Pick<Schemas['ReviewedScorecard'], 'monitorId'> & {
  sections: { name: string; items: { monitorId: string; outcome: string }[] }[]
}

/** A monitor to judge. Items also have their scorecard and section. */
export type Question = { monitorId: string; scorecardId?: string; section?: string }

const itemsOf = ({ monitorId: scorecardId, sections }: Scorecard): Question[] =>
  sections.flatMap(({ name, items }) =>
    items
      // Nobody can judge a monitor without a result.
      .filter(({ outcome }) => outcome !== 'missing')
      .map(({ monitorId }) => ({ monitorId, scorecardId, section: name })),
  )

/**
 * Returns the monitors to judge: the bucket's monitors, with scorecards replaced by their items. The service requires
 * these items even if the scorecard has changed since then.
 */
export const questionsOf = (monitorIds: string[], scorecards: Scorecard[]): Question[] => {
  const all = monitorIds.flatMap((monitorId): Question[] => {
    const scorecard = scorecards.find((one) => one.monitorId === monitorId)
    return scorecard ? itemsOf(scorecard) : [{ monitorId }]
  })
  return [...new Map(all.map((question) => [question.monitorId, question])).values()]
}
