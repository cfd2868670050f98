// Collects a page of calls in the format in which PostgreSQL sends them.

import type { TakeTuple } from '../../platform/db/snapshot.ts'
import { type Calls, instantAt, uuidAt } from '../slice.ts'
import type { CallPosition } from './queries.ts'

const idColumn = 0

export type CallPage = {
  rows: number
  /** The column that contains the start of the call. */
  startedAtColumn: number
  calls: Calls
  /** The ID of each call, as four 32-bit numbers. */
  ids: Int32Array
}

/** The positions of a tuple's columns. */
export type Tuple = { width: number; startedAtColumn: number }

type Room = Tuple & {
  rows: number
  bytes: number
}

/**
 * Stores tuples until they reach a number of bytes. Always stores at least one. The remaining tuples are left for
 * another page.
 */
export const collectCalls = ({ width, startedAtColumn, rows: maxRows, bytes: maxBytes }: Room) => {
  let bytes = Buffer.allocUnsafeSlow(Math.min(maxBytes, 256 * 1024))
  let length = 0
  let rows = 0
  let isFull = false
  const starts = new Int32Array(maxRows * width).fill(-1)
  const lengths = new Int32Array(maxRows * width).fill(-1)
  const ids = new Int32Array(maxRows * 4)

  const makeRoom = (size: number) => {
    if (length + size <= bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, length + size))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }

  const setId = (view: DataView, at: number) => {
    for (let word = 0; word < 4; word++) ids[rows * 4 + word] = view.getInt32(at + word * 4)
  }

  const take: TakeTuple = (view, at, end) => {
    const size = end - at
    isFull ||= rows === maxRows || (rows > 0 && length + size > maxBytes)
    if (isFull) return
    makeRoom(size)
    bytes.set(new Uint8Array(view.buffer, view.byteOffset + at, size), length)
    let field = at + 2
    for (let column = 0; column < width; column++) {
      const count = view.getInt32(field)
      field += 4
      if (count < 0) continue
      const cell = rows * width + column
      starts[cell] = length + field - at
      lengths[cell] = count
      if (column === idColumn) setId(view, field)
      field += count
    }
    length += size
    rows++
  }

  return {
    take,
    isFull: () => isFull,
    page: (): CallPage => {
      const calls = { width, bytes: bytes.subarray(0, length), starts, lengths }
      return partOf({ startedAtColumn, calls, ids }, 0, rows)
    },
  }
}

/** Returns rows that share the memory of the page. */
const partOf = ({ startedAtColumn, calls, ids }: Omit<CallPage, 'rows'>, from: number, to: number): CallPage => ({
  rows: to - from,
  startedAtColumn,
  calls: {
    width: calls.width,
    bytes: calls.bytes,
    starts: calls.starts.subarray(from * calls.width, to * calls.width),
    lengths: calls.lengths.subarray(from * calls.width, to * calls.width),
  },
  ids: ids.subarray(from * 4, to * 4),
})

/** Copies rows of a page to separate memory. */
export const copyRows = ({ rows, startedAtColumn, calls, ids }: CallPage, from: number, to: number): CallPage => {
  const { width, bytes, starts, lengths } = calls
  // Rows are stored one after the other, and each one starts with its ID.
  const begin = starts[from * width + idColumn] ?? 0
  const end = to < rows ? starts[to * width + idColumn] : bytes.length
  const own = Buffer.from(new Uint8Array(bytes.subarray(begin, end)).buffer)
  return {
    rows: to - from,
    startedAtColumn,
    calls: {
      width,
      bytes: own,
      starts: starts.slice(from * width, to * width).map((start) => (start < 0 ? start : start - begin)),
      lengths: lengths.slice(from * width, to * width),
    },
    ids: ids.slice(from * 4, to * 4),
  }
}

export const positionOf = ({ startedAtColumn, calls }: CallPage, row: number): CallPosition => {
  const { width, bytes, starts } = calls
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const startedAt = starts[row * width + startedAtColumn] ?? 0
  return {
    startedAt: new Date(instantAt(view, startedAt)).toISOString(),
    id: uuidAt(bytes, starts[row * width + idColumn] ?? 0),
  }
}

/** Removes the other rows of a page without copying it. */
export const keepRows = ({ startedAtColumn, calls, ids }: CallPage, kept: Int32Array): CallPage => {
  const { width } = calls
  for (const [to, from] of kept.entries()) {
    calls.starts.copyWithin(to * width, from * width, (from + 1) * width)
    calls.lengths.copyWithin(to * width, from * width, (from + 1) * width)
    ids.copyWithin(to * 4, from * 4, (from + 1) * 4)
  }
  return partOf({ startedAtColumn, calls, ids }, 0, kept.length)
}
