// Provides the data that an export reads: calls, columns, and monitors.

import type { Snapshot, TakeTuple } from '../../platform/db/snapshot.ts'
import { cellsOfCalls, cellsOfObservations, type Layout, slugsOf, tupleTypes } from '../layout.ts'
import { type CallPlan, maxCalls, maxObserved, type ObservationOrder, type Plan } from './order.ts'
import { type CallPage, collectCalls, positionOf } from './page.ts'
import {
  type CallPosition,
  copyCalls,
  copyCallsOfWindow,
  copyObserved,
  type FoundMonitor,
  fetchCalls,
  listMonitors,
  openCursor,
  openCursorOfObserved,
} from './queries.ts'
import type { MeasuredMonitor } from './results.ts'

export type Size = { rows: number; bytes: number }

export type ExportSource = {
  layout: Layout
  /** The monitors in the order of the layout. */
  measured: MeasuredMonitor[]
  /** Whether calls without a result are included. */
  keepsAll: boolean
  /** Whether a page contains all calls between its first and last one. */
  isWhole: boolean
  maxRows: number
  /** Yields the calls, oldest first. */
  pages: (size: Size) => AsyncGenerator<CallPage>
}

const findMonitors = async (snapshot: Snapshot, { org, monitors }: CallPlan): Promise<FoundMonitor[]> => {
  const ids = monitors.map(({ id }) => id)
  const found = new Map((await listMonitors(snapshot, org, ids)).map((monitor) => [monitor.id, monitor]))
  return ids.map((id) => {
    const monitor = found.get(id)
    if (!monitor) throw new Error('A monitor of the export was deleted')
    return monitor
  })
}

/** Yields all calls of the period. */
const pagesOfWindow = async function* (
  snapshot: Snapshot,
  { org, selection }: CallPlan,
  width: number,
  size: Size,
): AsyncGenerator<CallPage> {
  const { since, until } = selection
  if (since === undefined || until === undefined) throw new Error('An export has a window')
  for (let after: CallPosition | undefined; ; ) {
    const limit = size.rows
    const collected = collectCalls({ width, rows: limit, bytes: size.bytes })
    await copyCallsOfWindow(snapshot, org, { since, until, after, limit }, collected.take)
    const page = collected.page()
    if (page.rows === 0) return
    after = positionOf(page, page.rows - 1)
    yield page
    // There are no more calls if there are fewer than requested.
    if (!collected.isFull() && page.rows < limit) return
  }
}

type CallCursor = {
  openCursor: () => Promise<void>
  /** Reads all calls of the cursor's rows. */
  copy: (ids: string[], take: TakeTuple) => Promise<void>
  width: number
}

/** Yields the calls of a cursor. */
const pagesOfCursor = async function* (
  snapshot: Snapshot,
  { org }: Plan,
  found: CallCursor,
  size: Size,
): AsyncGenerator<CallPage> {
  await found.openCursor()
  for (let waiting: CallPosition[] = []; ; ) {
    if (waiting.length === 0) waiting = await fetchCalls(snapshot, org, size.rows)
    if (waiting.length === 0) return
    const ids = waiting.slice(0, size.rows).map(({ id }) => id)
    const collected = collectCalls({ width: found.width, rows: ids.length, bytes: size.bytes })
    await found.copy(ids, collected.take)
    const page = collected.page()
    waiting = waiting.slice(page.rows)
    yield page
  }
}

const withSlugs = <M extends { name: string }>(monitors: M[]) => {
  const slugs = slugsOf(monitors.map(({ name }) => name))
  return monitors.map((monitor, at) => ({ ...monitor, slug: slugs[at] ?? '' }))
}

const sourceOfCalls = async (snapshot: Snapshot, plan: CallPlan): Promise<ExportSource> => {
  const { org, statement, versionScope, reasoning, about } = plan
  const monitors = await findMonitors(snapshot, plan)
  const layout: Layout = {
    ...cellsOfCalls,
    monitors: withSlugs(monitors),
    versions: 'current',
    reasoning,
    about,
  }
  const width = tupleTypes(layout).length
  const found = statement && {
    openCursor: () => openCursor(snapshot, org, statement),
    copy: (ids: string[], take: TakeTuple) => copyCalls(snapshot, org, ids, take),
    width,
  }
  return {
    layout,
    measured: monitors.map(({ id, version }) => ({ id, version: versionScope === 'current' ? version : 0 })),
    keepsAll: false,
    isWhole: !found,
    maxRows: maxCalls,
    pages: (size) => (found ? pagesOfCursor(snapshot, plan, found, size) : pagesOfWindow(snapshot, plan, width, size)),
  }
}

const sourceOfObserved = (snapshot: Snapshot, order: ObservationOrder): ExportSource => {
  const { org, experimentId, outcomes, reasoning, about } = order
  const layout: Layout = {
    ...cellsOfObservations,
    monitors: withSlugs(outcomes),
    versions: 'pinned',
    reasoning,
    about,
  }
  const found: CallCursor = {
    openCursor: () => openCursorOfObserved(snapshot, org, experimentId),
    copy: (ids, take) => copyObserved(snapshot, org, { experimentId, outcomes: outcomes.length, ids }, take),
    width: tupleTypes(layout).length,
  }
  return {
    layout,
    measured: outcomes,
    keepsAll: true,
    isWhole: false,
    maxRows: maxObserved,
    pages: (size) => pagesOfCursor(snapshot, order, found, size),
  }
}

export const openSource = async (snapshot: Snapshot, plan: Plan): Promise<ExportSource> =>
  'experimentId' in plan ? sourceOfObserved(snapshot, plan) : sourceOfCalls(snapshot, plan)
