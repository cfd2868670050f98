import type { Snapshot, TakeTuple } from '../../platform/db/snapshot.ts'
import type { Layout } from '../layout.ts'
import type { Slice } from '../slice.ts'
import { type Plan, TooManyCalls } from './order.ts'
import { type CallPage, copyRows, positionOf } from './page.ts'
import {
  type CallPosition,
  copyResultsAmong,
  copyResultsBetween,
  copyResultsOfEach,
  countCallsBetween,
} from './queries.ts'
import { collectResults } from './results.ts'
import { openSource, type Size } from './sources.ts'

/**
 * The maximum number of bytes of text in a slice. Ordinary text is far below this limit. Slices with very long text
 * have fewer rows.
 */
const maxBytes = 32 * 1024 * 1024

/**
 * If the share of matching calls is lower than this, their results are looked up one by one. At this share, both
 * methods take equally long.
 */
const sparseShare = 0.04

export type ReadLimits = {
  rowsPerSlice: number
  /** The maximum number of rows in total. Reading fails if there are more. */
  maxRows?: number
  maxBytes?: number
}

export type ExportReading = {
  layout: Layout
  /** Yields slices with at least one row each. */
  slices: (limits: ReadLimits) => AsyncGenerator<Slice>
}

/**
 * Returns whether calls at one end of the page start at the same time, because then calls outside the page may do so
 * too.
 */
const isTied = (page: CallPage): boolean => {
  const last = page.rows - 1
  const startedAt = (row: number) => positionOf(page, row).startedAt
  return last < 2 || startedAt(0) === startedAt(1) || startedAt(last - 1) === startedAt(last)
}

/** Returns the earliest and the latest call of a page. */
const stretchOf = (page: CallPage, order: 'oldest' | 'newest') => {
  const ends = [positionOf(page, 0), positionOf(page, page.rows - 1)] as const
  return order === 'oldest' ? { first: ends[0], last: ends[1] } : { first: ends[1], last: ends[0] }
}

const positionsOf = (page: CallPage): CallPosition[] =>
  Array.from({ length: page.rows }, (_, row) => positionOf(page, row))

/** Opens the contents of an export. Slices are only read when they are requested. */
export const openReading = async (snapshot: Snapshot, plan: Plan): Promise<ExportReading> => {
  const { org, reasoning } = plan
  const source = await openSource(snapshot, plan)
  const { layout, measured, keepsAll, order, maxRows: mostRows, pages, complete } = source
  const columns = { monitorIds: [...new Set(measured.map(({ id }) => id))], reasoning, order }

  const copyResults = async (page: CallPage, take: TakeTuple): Promise<void> => {
    if (measured.length === 0) return
    if (order === 'listed') return copyResultsOfEach(snapshot, org, columns, positionsOf(page), take)
    const stretch = stretchOf(page, order)
    if (source.isWhole) return copyResultsBetween(snapshot, org, columns, { ...stretch, isTied: isTied(page) }, take)
    const isDense = page.rows >= sparseShare * (await countCallsBetween(snapshot, org, stretch))
    return (isDense ? copyResultsAmong : copyResultsOfEach)(snapshot, org, columns, positionsOf(page), take)
  }

  /** Splits a page into several slices if its text is too large. */
  const slicesOf = async function* (page: CallPage, size: Size): AsyncGenerator<Slice> {
    const collected = collectResults(page, measured, {
      keepsAll,
      reasoning,
      // A single call is never too large for a slice.
      maxBytes: page.rows === 1 ? Number.POSITIVE_INFINITY : size.bytes,
    })
    await copyResults(page, collected.take)
    if (!collected.isTooLarge()) {
      const slice = collected.slice()
      if (slice.rows > 0) yield complete(slice)
      return
    }
    const half = page.rows >> 1
    size.rows = half
    const halves = [copyRows(page, 0, half), copyRows(page, half, page.rows)]
    for (const rows of halves) yield* slicesOf(rows, size)
  }

  return {
    layout,
    slices: async function* ({ rowsPerSlice, maxRows = mostRows, maxBytes: bytes = maxBytes }) {
      const size: Size = { rows: rowsPerSlice, bytes }
      let rows = 0
      for await (const page of pages(size)) {
        // The next pages may have shorter text.
        size.rows = Math.min(rowsPerSlice, size.rows * 2)
        for await (const slice of slicesOf(page, size)) {
          rows += slice.rows
          if (rows > maxRows) throw new TooManyCalls()
          yield slice
        }
      }
    },
  }
}
