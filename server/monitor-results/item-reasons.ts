import type { Breakdown } from '../monitors/scorecards/algebra.ts'
import { batchesOfSize } from '../platform/batches.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type ItemReason, listItemReasons } from './queries.ts'
import { mostReasons } from './schema.ts'

type Row = { conversationId: string; callStartedAt: Date; breakdown: Breakdown | null }

/** The number of items that are read together. */
const batchSize = 500

const keyOf = (conversationId: string, monitorId: string, version: number | null) =>
  `${conversationId} ${monitorId} ${version}`

/** Returns the items that have a result. */
const placesOf = ({ conversationId, callStartedAt, breakdown }: Row) =>
  (breakdown?.sections ?? []).flatMap(({ items }) =>
    items.flatMap(({ monitorId, version }) =>
      version === null ? [] : [{ conversationId, callStartedAt, monitorId, version }],
    ),
  )

const findReasons = async (db: Db, org: OrgId, rows: Row[]): Promise<Map<string, ItemReason>> => {
  const places = rows.flatMap(placesOf)
  const found = places.length > 0 ? await listItemReasons(db, org, places) : []
  return new Map(found.map((one) => [keyOf(one.conversationId, one.monitorId, one.version), one]))
}

const lengthOf = (row: Row, reasons: Map<string, ItemReason>): number =>
  placesOf(row).reduce((length, { conversationId, monitorId, version }) => {
    const { reasoning = null, evidence = [] } = reasons.get(keyOf(conversationId, monitorId, version)) ?? {}
    return evidence.reduce((sum, { quote }) => sum + quote.length, length + (reasoning?.length ?? 0))
  }, 0)

/** Adds reasons to a row's items. Without reasons, the breakdown is shortened. */
const explain = <R extends Row>(row: R, reasons: Map<string, ItemReason> | undefined) => ({
  ...row,
  breakdown: row.breakdown && {
    ...row.breakdown,
    isShortened: reasons === undefined && placesOf(row).length > 0,
    sections: row.breakdown.sections.map((section) => ({
      ...section,
      items: section.items.map((item) => {
        const reason = reasons?.get(keyOf(row.conversationId, item.monitorId, item.version))
        return { ...item, reasoning: reason?.reasoning ?? null, evidence: reason?.evidence ?? [] }
      }),
    })),
  },
})

/**
 * Adds the reasons for results to scorecard items, up to a limit for the page. Otherwise, a page of large scorecards
 * could have hundreds of megabytes.
 */
export const withItemReasons = async <R extends Row>(db: Db, org: OrgId, rows: R[]) => {
  const explained: ReturnType<typeof explain<R>>[] = []
  let left = mostReasons
  for (const batch of batchesOfSize(rows, batchSize, (row) => placesOf(row).length)) {
    const reasons = await findReasons(db, org, left > 0 ? batch : [])
    for (const row of batch) {
      explained.push(explain(row, left > 0 ? reasons : undefined))
      left -= lengthOf(row, reasons)
    }
  }
  return explained
}
