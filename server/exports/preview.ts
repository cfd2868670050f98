import { countSelected, type Resolved, type VersionScope } from '../filters/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { connect } from './generation/connect.ts'
import { makePlan } from './generation/generate.ts'
import { type ConversationOrder, maxCalls, type Order } from './generation/order.ts'
import { openReading } from './generation/read.ts'
import { columnNames, type Layout, tupleTypes } from './layout.ts'
import { type CallType, instantAt, plainText, resultWords, type Slice, uuidAt } from './slice.ts'

const shownRows = 20
/** The number of previews of one kind that each process runs at once. */
const atOnce = 4
const mostWaiting = 100
/** The limit is the same as for statements of other requests. */
const longestStatementMs = 30_000

type Cell = string | number | null

const timeAt = (view: DataView, at: number): string => new Date(instantAt(view, at)).toISOString()

const callCell = ({ calls }: Slice, view: DataView, at: number, type: CallType): Cell => {
  const start = calls.starts[at] ?? -1
  if (start < 0) return null
  const text = { bytes: calls.bytes, start, length: calls.lengths[at] ?? 0 }
  const shown = type === 'value' || type === 'list' ? plainText(type, text) : text
  switch (type) {
    case 'uuid':
      return uuidAt(calls.bytes, start)
    case 'integer':
      return view.getInt32(start)
    case 'number':
      return view.getFloat64(start)
    case 'timestamp':
      return timeAt(view, start)
    default:
      return shown.bytes.toString('utf8', shown.start, shown.start + shown.length)
  }
}

const resultCells = ({ results }: Slice, at: number): Cell[] => {
  const { versions, results: found, scores, evaluatedAt, reasoning } = results
  if (!versions[at]) return Array<Cell>(reasoning ? 5 : 4).fill(null)
  const score = scores[at] ?? Number.NaN
  const cells: Cell[] = [
    resultWords[found[at] ?? 0] ?? null,
    Number.isNaN(score) ? null : score,
    versions[at],
    new Date(evaluatedAt[at] ?? 0).toISOString(),
  ]
  if (!reasoning) return cells
  const start = reasoning.starts[at] ?? -1
  return [...cells, start < 0 ? null : reasoning.bytes.toString('utf8', start, start + (reasoning.lengths[at] ?? 0))]
}

const rowsOf = (slice: Slice, layout: Layout): Cell[][] => {
  const { bytes, width } = slice.calls
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const monitors = slice.results.versions.length / slice.rows
  const types = tupleTypes(layout)
  return Array.from({ length: slice.rows }, (_, row) => [
    ...types.map((type, column) => callCell(slice, view, row * width + column, type)),
    ...Array.from({ length: monitors }, (_each, monitor) => resultCells(slice, monitor * slice.rows + row)).flat(),
  ])
}

/** `selection` and `scope` must select exactly the rows of the order. */
export type Previewed = { order: Order | ConversationOrder; selection: Resolved; scope: VersionScope }

/**
 * Counts the rows that an export would currently have, and returns the first ones. Reads them in the same way as the
 * export does.
 */
const readPreview = async ({ db, database }: Deps, org: OrgId, { order, selection, scope }: Previewed) => {
  const count = await countSelected(db, org, selection, scope)
  const settings = { statement_timeout: longestStatementMs }
  const snapshot = await connect({ primary: database.connection }, { note: () => {}, settings })
  try {
    const { layout, slices } = await openReading(snapshot, makePlan(db, order))
    const rows: Cell[][] = []
    for await (const slice of slices({ rowsPerSlice: shownRows })) {
      rows.push(...rowsOf(slice, layout))
      if (rows.length >= shownRows) break
    }
    return { count, exceedsLimit: count > maxCalls, columns: columnNames(layout), rows: rows.slice(0, shownRows) }
  } finally {
    await snapshot.close()
  }
}

/** Runs only a few previews at a time, because each occupies a connection and counting can take a long time. */
export const openPreviews = (deps: Deps) => {
  let free = atOnce
  const waiting: (() => void)[] = []
  return async (org: OrgId, previewed: Previewed) => {
    if (free > 0) free--
    else if (waiting.length < mostWaiting) await new Promise<void>((resolve) => waiting.push(resolve))
    else {
      throw new ApiError('unavailable', 'Too many previews are running. Try again in a moment.', {
        retryAfterSeconds: 5,
      })
    }
    try {
      return await readPreview(deps, org, previewed)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
