import { parseFilter } from '../filters/filter.ts'
import { countSelected } from '../filters/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { Configuration } from './configuration.ts'
import { connect } from './generation/connect.ts'
import { makePlan } from './generation/generate.ts'
import { maxCalls } from './generation/order.ts'
import { openReading } from './generation/read.ts'
import { columnNames } from './layout.ts'
import { makeCallOrder } from './make-order.ts'
import { type CallType, callColumns, instantAt, resultWords, type Slice, uuidAt } from './slice.ts'

const shownRows = 20
/** Each process runs this many previews at once. */
const atOnce = 4
const mostWaiting = 100
/** The limit is the same as for statements of other requests. */
const longestStatementMs = 30_000

type Cell = string | number | null

const timeAt = (view: DataView, at: number): string => new Date(instantAt(view, at)).toISOString()

const callCell = ({ calls }: Slice, view: DataView, at: number, type: CallType): Cell => {
  const start = calls.starts[at] ?? -1
  if (start < 0) return null
  if (type === 'uuid') return uuidAt(calls.bytes, start)
  if (type === 'integer') return view.getInt32(start)
  if (type === 'timestamp') return timeAt(view, start)
  return calls.bytes.toString('utf8', start, start + (calls.lengths[at] ?? 0))
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

const rowsOf = (slice: Slice): Cell[][] => {
  const { bytes } = slice.calls
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const monitors = slice.results.versions.length / slice.rows
  return Array.from({ length: slice.rows }, (_, row) => [
    ...callColumns.map(({ type }, column) => callCell(slice, view, row * callColumns.length + column, type)),
    ...Array.from({ length: monitors }, (_each, monitor) => resultCells(slice, monitor * slice.rows + row)).flat(),
  ])
}

/**
 * Counts the rows that an export would have at this time, and returns the first ones. Reads them in the same way as the
 * export does.
 */
const readPreview = async (deps: Deps, org: OrgId, config: Configuration) => {
  const { db, database, clock } = deps
  const stored = { id: '', createdAt: clock.now(), config }
  const order = await makeCallOrder(deps, org, stored, '')
  const { monitors, match, versionScope } = config
  const selection = { ...order.selection, ...parseFilter({ monitors, match }) }
  const count = await countSelected(db, org, selection, versionScope)
  const settings = { statement_timeout: longestStatementMs }
  const snapshot = await connect({ primary: database.connection }, { note: () => {}, settings })
  try {
    const reading = await openReading(snapshot, makePlan(db, order))
    const rows: Cell[][] = []
    for await (const slice of reading.slices({ rowsPerSlice: shownRows })) {
      rows.push(...rowsOf(slice))
      if (rows.length >= shownRows) break
    }
    const columns = columnNames(reading.layout)
    return { count, exceedsLimit: count > maxCalls, columns, rows: rows.slice(0, shownRows) }
  } finally {
    await snapshot.close()
  }
}

/** Runs only a few previews at a time, because each occupies a connection and counting can take long. */
export const openPreviews = (deps: Deps) => {
  let free = atOnce
  const waiting: (() => void)[] = []
  return async (org: OrgId, config: Configuration) => {
    if (free > 0) free--
    else if (waiting.length < mostWaiting) await new Promise<void>((resolve) => waiting.push(resolve))
    else {
      throw new ApiError('unavailable', 'Too many previews are running. Try again in a moment.', {
        retryAfterSeconds: 5,
      })
    }
    try {
      return await readPreview(deps, org, config)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
