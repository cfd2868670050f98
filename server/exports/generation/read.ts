import type { Snapshot } from '../../platform/db/snapshot.ts'
import { type Layout, slugsOf } from '../layout.ts'
import type { Slice } from '../slice.ts'
import { maxCalls, TooManyCalls } from './order.ts'
import { collectCalls, type Page, partOf, positionOf } from './page.ts'
import type { Plan } from './plan.ts'
import {
  copyCalls,
  copyCallsOfWindow,
  copyResultsAmong,
  copyResultsBetween,
  copyResultsOfEach,
  countCallsBetween,
  type FoundMonitor,
  fetchCalls,
  listMonitors,
  openCursor,
  type Position,
} from './queries.ts'
import { collectResults } from './results.ts'

/** What texts a slice may hold: usual ones are far from it, and of the largest ones a slice has fewer rows. */
const maxBytes = 32 * 1024 * 1024

/** Where a filter leaves fewer of the calls, their results are looked up one by one: there both ways cost the same. */
const sparseShare = 0.04

export type ReadLimits = {
  rowsPerSlice: number
  /** Rows in all; one more is a failure. */
  maxRows?: number
  maxBytes?: number
}

export type Reading = {
  layout: Layout
  /** Slices with at least one row each. */
  slices: (limits: ReadLimits) => AsyncGenerator<Slice>
}

const findMonitors = async (snapshot: Snapshot, { org, monitors }: Plan): Promise<FoundMonitor[]> => {
  const ids = monitors.map(({ id }) => id)
  const found = new Map((await listMonitors(snapshot, org, ids)).map((monitor) => [monitor.id, monitor]))
  return ids.map((id) => {
    const monitor = found.get(id)
    if (!monitor) throw new Error('A monitor of the export was deleted')
    return monitor
  })
}

type Size = { rows: number; bytes: number }

/** All calls of the window, oldest first. */
const pagesOfWindow = async function* (snapshot: Snapshot, { org, selection }: Plan, size: Size): AsyncGenerator<Page> {
  const { since, until } = selection
  if (since === undefined || until === undefined) throw new Error('An export has a window')
  for (let after: Position | undefined; ; ) {
    const limit = size.rows
    const collected = collectCalls(limit, size.bytes)
    await copyCallsOfWindow(snapshot, org, { since, until, after, limit }, collected.take)
    const page = collected.page()
    if (page.rows === 0) return
    after = positionOf(page, page.rows - 1)
    yield page
    // Fewer came than fit: there are no more.
    if (!collected.isFull() && page.rows < limit) return
  }
}

/** The calls that a statement finds, oldest first. */
const pagesOfStatement = async function* (
  snapshot: Snapshot,
  { org }: Plan,
  statement: NonNullable<Plan['statement']>,
  size: Size,
): AsyncGenerator<Page> {
  await openCursor(snapshot, org, statement)
  for (let waiting: Position[] = []; ; ) {
    if (waiting.length === 0) waiting = await fetchCalls(snapshot, org, size.rows)
    if (waiting.length === 0) return
    const ids = waiting.slice(0, size.rows).map(({ id }) => id)
    const collected = collectCalls(ids.length, size.bytes)
    await copyCalls(snapshot, org, ids, collected.take)
    const page = collected.page()
    waiting = waiting.slice(page.rows)
    yield page
  }
}

/** Whether the calls at one of its ends start at the same moment, as those beyond may too. */
const isTied = (page: Page): boolean => {
  const last = page.rows - 1
  const startedAt = (row: number) => positionOf(page, row).startedAt
  return last < 2 || startedAt(0) === startedAt(1) || startedAt(last - 1) === startedAt(last)
}

const positionsOf = (page: Page): Position[] => Array.from({ length: page.rows }, (_, row) => positionOf(page, row))

/** What an export holds. Slices are read one by one, as they are asked for. */
export const openReading = async (snapshot: Snapshot, plan: Plan): Promise<Reading> => {
  const { org, statement, versionScope, reasoning, about } = plan
  const monitors = await findMonitors(snapshot, plan)
  const slugs = slugsOf(monitors.map(({ name }) => name))
  const layout = {
    monitors: monitors.map((monitor, index) => ({ ...monitor, slug: slugs[index] ?? '' })),
    ...{ reasoning, about },
  }
  const columns = { monitorIds: monitors.map(({ id }) => id), reasoning }

  /** Of one page several slices where its texts are too large. */
  const slicesOf = async function* (page: Page, size: Size): AsyncGenerator<Slice> {
    const collected = collectResults(page, monitors, {
      ...{ versionScope, reasoning },
      // A single call is never too large.
      maxBytes: page.rows === 1 ? Number.POSITIVE_INFINITY : size.bytes,
    })
    const stretch = { first: positionOf(page, 0), last: positionOf(page, page.rows - 1) }
    if (!statement) {
      await copyResultsBetween(snapshot, org, columns, { ...stretch, isTied: isTied(page) }, collected.take)
    } else {
      const isDense = page.rows >= sparseShare * (await countCallsBetween(snapshot, org, stretch))
      const copyResults = isDense ? copyResultsAmong : copyResultsOfEach
      await copyResults(snapshot, org, columns, positionsOf(page), collected.take)
    }
    if (!collected.isTooLarge()) {
      const slice = collected.slice()
      if (slice.rows > 0) yield slice
      return
    }
    const half = page.rows >> 1
    size.rows = half
    yield* slicesOf(partOf(page, 0, half), size)
    yield* slicesOf(partOf(page, half, page.rows), size)
  }

  return {
    layout,
    slices: async function* ({ rowsPerSlice, maxRows = maxCalls, maxBytes: bytes = maxBytes }) {
      const size: Size = { rows: rowsPerSlice, bytes }
      const pages = statement ? pagesOfStatement(snapshot, plan, statement, size) : pagesOfWindow(snapshot, plan, size)
      let rows = 0
      for await (const page of pages) {
        // Of what came before may be told nothing of what comes.
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
