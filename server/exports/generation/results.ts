// Merges the results of a page with its calls. Both are sorted by time and ID, so each monitor's results are merged in
// one pass.

import type { TakeTuple } from '../../platform/db/snapshot.ts'
import { instantAt, type Results, type Slice } from '../slice.ts'
import { type CallPage, keepRows } from './page.ts'

/** The offsets of the fields that are never null. Each value follows its length. */
const fields = { monitorId: 6, conversationId: 26, version: 46, status: 54, evaluatedAt: 60, result: 68 }
const scored = 0

/** The monitor and its version. Version 0 means the newest version with a result. */
export type MeasuredMonitor = { id: string; version: number }

type Options = {
  /** Whether calls without a result are included. */
  keepsAll: boolean
  reasoning: boolean
  maxBytes: number
}

const wordsOf = (id: string): Int32Array => {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
  return Int32Array.from({ length: 4 }, (_, word) => bytes.readInt32BE(word * 4))
}

const collectReasons = (cells: number, maxBytes: number) => {
  let bytes = Buffer.allocUnsafeSlow(1024 * 1024)
  let length = 0
  const starts = new Int32Array(cells).fill(-1)
  const lengths = new Int32Array(cells).fill(-1)
  return {
    isTooLarge: () => length > maxBytes,
    set: (cell: number, view: DataView, at: number, count: number) => {
      if (length > maxBytes) return
      if (length + count > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, length + count))
        bytes.copy(larger, 0, 0, length)
        bytes = larger
      }
      starts[cell] = count < 0 ? -1 : length
      lengths[cell] = count
      if (count <= 0) return
      bytes.set(new Uint8Array(view.buffer, view.byteOffset + at, count), length)
      length += count
    },
    all: () => ({ bytes: bytes.subarray(0, length), starts, lengths }),
  }
}

export const collectResults = (page: CallPage, monitors: MeasuredMonitor[], options: Options) => {
  const { rows, ids } = page
  const cells = monitors.length * rows
  const versions = new Int32Array(cells)
  const results = new Uint8Array(cells)
  const scores = new Float64Array(cells)
  const evaluatedAt = new Float64Array(cells)
  const reasons = options.reasoning ? collectReasons(cells, options.maxBytes) : undefined
  const known = monitors.map(({ id }) => wordsOf(id))

  let current: Int32Array = new Int32Array(0)
  let first = 0
  /** The version that is in scope, or 0 if all versions are. */
  let only = 0
  let row = 0

  const isOf = (monitor: Int32Array, view: DataView, at: number): boolean =>
    view.getInt32(at + 12) === monitor[3] &&
    view.getInt32(at + 8) === monitor[2] &&
    view.getInt32(at + 4) === monitor[1] &&
    view.getInt32(at) === monitor[0]

  const begin = (view: DataView, at: number) => {
    const column = known.findIndex((monitor) => isOf(monitor, view, at))
    const monitor = monitors[column]
    if (!monitor) throw new Error('The results contain another monitor')
    current = known[column] ?? current
    first = column * rows
    only = monitor.version
    row = 0
  }

  /**
   * Finds the row of the call, starting the search at the current row. Returns -1 if the result belongs to no call on
   * the page.
   */
  const find = (view: DataView, at: number): number => {
    const [a, b, c, d] = [view.getInt32(at), view.getInt32(at + 4), view.getInt32(at + 8), view.getInt32(at + 12)]
    for (let next = row; next < rows; next++) {
      const word = next * 4
      if (ids[word + 3] === d && ids[word + 2] === c && ids[word + 1] === b && ids[word] === a) return next
    }
    return -1
  }

  const take: TakeTuple = (view, at) => {
    if (!isOf(current, view, at + fields.monitorId)) begin(view, at + fields.monitorId)
    const version = view.getInt32(at + fields.version)
    if (only !== 0 && version !== only) return
    const found = find(view, at + fields.conversationId)
    if (found < 0) return
    row = found
    const cell = first + found
    if (version <= (versions[cell] ?? 0)) return
    versions[cell] = version
    evaluatedAt[cell] = instantAt(view, at + fields.evaluatedAt)
    setValues(cell, view, at)
  }

  /** Reads the fields that can be null. They are consecutive. */
  const setValues = (cell: number, view: DataView, at: number) => {
    const status = view.getInt16(at + fields.status)
    let field = at + fields.result
    const resultBytes = view.getInt32(field)
    // The number is an index into `resultWords`.
    results[cell] = status === scored ? 1 - view.getInt16(field + 4) : status + 1
    field += 4 + Math.max(0, resultBytes)
    const scoreBytes = view.getInt32(field)
    scores[cell] = scoreBytes < 0 ? Number.NaN : view.getFloat64(field + 4)
    if (!reasons) return
    field += 4 + Math.max(0, scoreBytes)
    reasons.set(cell, view, field + 4, view.getInt32(field))
  }

  /**
   * Copies the results of a monitor to its other columns, because an experiment can measure a monitor in several ways.
   */
  const repeat = (found: Results) => {
    const { reasoning } = found
    const values = [found.versions, found.results, found.scores, found.evaluatedAt]
    if (reasoning) values.push(reasoning.starts, reasoning.lengths)
    for (const [column, { id }] of monitors.entries()) {
      const original = monitors.findIndex((monitor) => monitor.id === id)
      if (original === column) continue
      for (const each of values) each.copyWithin(column * rows, original * rows, (original + 1) * rows)
    }
  }

  return {
    take,
    isTooLarge: () => reasons?.isTooLarge() ?? false,
    /** Returns the calls with a result in scope, or all calls. */
    slice: (): Slice => {
      const found: Results = { versions, results, scores, evaluatedAt, reasoning: reasons?.all() }
      repeat(found)
      if (options.keepsAll) return { rows, calls: page.calls, results: found }
      return withoutEmptyRows(page, found, monitors.length)
    },
  }
}

const withoutEmptyRows = (page: CallPage, results: Results, monitors: number): Slice => {
  const { rows } = page
  const isKept = (row: number): boolean => {
    for (let cell = row; cell < results.versions.length; cell += rows) if (results.versions[cell] !== 0) return true
    return false
  }
  let count = 0
  const kept = new Int32Array(rows)
  for (let row = 0; row < rows; row++) if (isKept(row)) kept[count++] = row
  if (count === rows) return { rows, calls: page.calls, results }
  const wanted = kept.subarray(0, count)
  const cells = [results.versions, results.results, results.scores, results.evaluatedAt]
  if (results.reasoning) cells.push(results.reasoning.starts, results.reasoning.lengths)
  for (const values of cells) {
    for (let monitor = 0, to = 0; monitor < monitors; monitor++) {
      for (const row of wanted) values[to++] = values[monitor * rows + row] ?? 0
    }
  }
  const end = monitors * count
  const { reasoning } = results
  return {
    rows: count,
    calls: keepRows(page, wanted).calls,
    results: {
      versions: results.versions.subarray(0, end),
      results: results.results.subarray(0, end),
      scores: results.scores.subarray(0, end),
      evaluatedAt: results.evaluatedAt.subarray(0, end),
      reasoning: reasoning && {
        bytes: reasoning.bytes,
        starts: reasoning.starts.subarray(0, end),
        lengths: reasoning.lengths.subarray(0, end),
      },
    },
  }
}
