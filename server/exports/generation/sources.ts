// Provides the data that an export reads: calls, columns, and monitors.

import type { Snapshot, TakeTuple } from '../../platform/db/snapshot.ts'
import {
  cellsOfCalls,
  cellsOfObservations,
  columnNames,
  type ExportedMonitor,
  freeName,
  type Layout,
  slugsOf,
  tupleTypes,
} from '../layout.ts'
import { type CallColumn, callColumns, type Slice } from '../slice.ts'
import { conversationCells } from './conversation-cells.ts'
import {
  type CallPlan,
  type ConversationPlan,
  maxCalls,
  maxObserved,
  monitorIdsOf,
  type ObservationOrder,
  type Plan,
} from './order.ts'
import { type CallPage, collectCalls, positionOf, type Tuple } from './page.ts'
import {
  type CallPosition,
  copyCalls,
  copyCallsOfWindow,
  copyConversations,
  copyConversationsOfWindow,
  copyObserved,
  type FoundMonitor,
  fetchCalls,
  listItems,
  listMonitors,
  listNewestMonitors,
  mostMonitors,
  openCursor,
  openCursorOfObserved,
  type RowOrder,
  type ScorecardCell,
  type Window,
} from './queries.ts'
import type { MeasuredMonitor } from './results.ts'

export type Size = { rows: number; bytes: number }

export type ExportSource = {
  layout: Layout
  /** The monitors in the order of the layout, followed by monitors that only other cells need. */
  measured: MeasuredMonitor[]
  /** Whether calls without a result are included. */
  keepsAll: boolean
  order: RowOrder
  /** Whether a page contains all calls between its first and last call. */
  isWhole: boolean
  maxRows: number
  /** Yields the calls in their order. */
  pages: (size: Size) => AsyncGenerator<CallPage>
  /** Completes the cells of a slice after its results have been read. */
  complete: (slice: Slice) => Slice
}

const asRead = (slice: Slice): Slice => slice

const findMonitors = async (snapshot: Snapshot, { org }: Plan, ids: string[]): Promise<FoundMonitor[]> => {
  const found = new Map((await listMonitors(snapshot, org, ids)).map((monitor) => [monitor.id, monitor]))
  return ids.map((id) => {
    const monitor = found.get(id)
    if (!monitor) throw new Error('A monitor of the export was deleted')
    return monitor
  })
}

type WindowReader = Tuple & { copy: (window: Window, take: TakeTuple) => Promise<void> }

/** Yields all calls of the period. */
const pagesOfWindow = async function* (
  { selection }: CallPlan | ConversationPlan,
  { copy, ...tuple }: WindowReader,
  size: Size,
): AsyncGenerator<CallPage> {
  const { since, until } = selection
  if (since === undefined || until === undefined) throw new Error('An export must have a window')
  for (let after: CallPosition | undefined; ; ) {
    const limit = size.rows
    const collected = collectCalls({ ...tuple, rows: limit, bytes: size.bytes })
    await copy({ since, until, after, limit }, collected.take)
    const page = collected.page()
    if (page.rows === 0) return
    after = positionOf(page, page.rows - 1)
    yield page
    // If there are fewer calls than requested, there are no more.
    if (!collected.isFull() && page.rows < limit) return
  }
}

type CallCursor = Tuple & {
  openCursor: () => Promise<void>
  /** Reads all calls for the cursor's rows. */
  copy: (ids: string[], take: TakeTuple) => Promise<void>
}

/** Yields the calls of a cursor. */
const pagesOfCursor = async function* (
  snapshot: Snapshot,
  { org }: Plan,
  { openCursor, copy, ...tuple }: CallCursor,
  size: Size,
): AsyncGenerator<CallPage> {
  await openCursor()
  for (let waiting: CallPosition[] = []; ; ) {
    if (waiting.length === 0) waiting = await fetchCalls(snapshot, org, size.rows)
    if (waiting.length === 0) return
    const ids = waiting.slice(0, size.rows).map(({ id }) => id)
    const collected = collectCalls({ ...tuple, rows: ids.length, bytes: size.bytes })
    await copy(ids, collected.take)
    const page = collected.page()
    waiting = waiting.slice(page.rows)
    yield page
  }
}

const withSlugs = <M extends { name: string }>(monitors: M[]) => {
  const slugs = slugsOf(monitors.map(({ name }) => name))
  return monitors.map((monitor, at) => ({ ...monitor, slug: slugs[at] ?? '' }))
}

const callTuple = (layout: Layout): Tuple => ({
  width: tupleTypes(layout).length,
  startedAtColumn: callColumns.findIndex(({ name }) => name === 'started_at'),
})

/** Returns the columns of each scorecard: its band, and the outcome for each item of its current version. */
const scorecardColumns = async (
  snapshot: Snapshot,
  { org, versionScope }: CallPlan,
  monitors: ExportedMonitor[],
): Promise<{ column: CallColumn; cell: ScorecardCell }[]> => {
  const items = await listItems(
    snapshot,
    org,
    monitors.map(({ id }) => id),
  )
  const taken = new Set(columnNames({ ...cellsOfCalls, monitors, reasoning: true }))
  return monitors.flatMap(({ id: monitorId, slug, version }) => {
    const own = items.filter(({ scorecardId }) => scorecardId === monitorId)
    if (own.length === 0) return []
    const slugs = slugsOf(own.map(({ name }) => name))
    const of = (name: string, itemId: string | null) => ({
      column: {
        name: freeName(`${slug}_${name}`, taken),
        type: itemId === null ? ('name' as const) : ('word' as const),
      },
      cell: { monitorId, version: versionScope === 'current' ? version : 0, itemId },
    })
    return [of('band', null), ...own.map((item, at) => of(slugs[at] ?? '', item.monitorId))]
  })
}

const sourceOfCalls = async (snapshot: Snapshot, plan: CallPlan): Promise<ExportSource> => {
  const { org, statement, versionScope, reasoning, about } = plan
  const ids = plan.monitors.map(({ id }) => id)
  const monitors = withSlugs(await findMonitors(snapshot, plan, ids))
  const more = await scorecardColumns(snapshot, plan, monitors)
  const cells = more.map(({ cell }) => cell)
  const layout: Layout = {
    ...cellsOfCalls,
    columns: [...cellsOfCalls.columns, ...more.map(({ column }) => column)],
    rowsName: 'Calls',
    monitors,
    versions: 'current',
    reasoning,
    about,
  }
  const tuple = callTuple(layout)
  const window: WindowReader = {
    ...tuple,
    copy: (page, take) => copyCallsOfWindow(snapshot, org, cells, page, take),
  }
  const found = statement && {
    ...tuple,
    openCursor: () => openCursor(snapshot, org, statement),
    copy: (ids: string[], take: TakeTuple) => copyCalls(snapshot, org, cells, ids, take),
  }
  return {
    layout,
    measured: monitors.map(({ id, version }) => ({ id, version: versionScope === 'current' ? version : 0 })),
    keepsAll: false,
    order: 'oldest',
    isWhole: !found,
    maxRows: maxCalls,
    pages: (size) => (found ? pagesOfCursor(snapshot, plan, found, size) : pagesOfWindow(plan, window, size)),
    complete: asRead,
  }
}

const orderOf = ({ sorting: { key, direction } }: ConversationPlan): RowOrder => {
  if (key.kind !== 'startedAt') return 'listed'
  return direction === 'asc' ? 'oldest' : 'newest'
}

/** Returns the monitors that have columns, followed by monitors that only other cells need. */
const monitorsOf = async (snapshot: Snapshot, plan: ConversationPlan): Promise<FoundMonitor[]> => {
  const { org, cells } = plan
  const chosen = await findMonitors(snapshot, plan, monitorIdsOf(plan))
  if (!cells.some(({ source }) => source.kind === 'affected')) return chosen
  const known = new Set(chosen.map(({ id }) => id))
  const others = await listNewestMonitors(snapshot, org, mostMonitors)
  return [...chosen, ...others.filter(({ id }) => !known.has(id))]
}

const sourceOfConversations = async (snapshot: Snapshot, plan: ConversationPlan): Promise<ExportSource> => {
  const { org, statement, monitorIds, reasoning, about } = plan
  const order = orderOf(plan)
  const monitors = withSlugs(await monitorsOf(snapshot, plan))
  const shown = monitors.slice(0, monitorIds.length)
  const { columns, read, tuple, complete } = conversationCells(plan.cells, monitors, shown)
  const layout: Layout = {
    columns,
    monitorColumns: [],
    rowsName: 'Conversations',
    monitors: shown,
    versions: 'current',
    reasoning,
    about,
  }
  const copyWindow = async (page: Window, take: TakeTuple) => {
    if (order !== 'listed') await copyConversationsOfWindow(snapshot, org, read, { ...page, order }, take)
  }
  const found = statement && {
    ...tuple,
    openCursor: () => openCursor(snapshot, org, statement),
    copy: (ids: string[], take: TakeTuple) => copyConversations(snapshot, org, read, { ids, order }, take),
  }
  return {
    layout,
    measured: monitors.map(({ id }) => ({ id, version: 0 })),
    keepsAll: true,
    order,
    isWhole: !found,
    maxRows: maxCalls,
    pages: (size) =>
      found ? pagesOfCursor(snapshot, plan, found, size) : pagesOfWindow(plan, { ...tuple, copy: copyWindow }, size),
    complete,
  }
}

const sourceOfObserved = (snapshot: Snapshot, order: ObservationOrder): ExportSource => {
  const { org, experimentId, outcomes, reasoning, about } = order
  const layout: Layout = {
    ...cellsOfObservations,
    rowsName: 'Calls',
    monitors: withSlugs(outcomes),
    versions: 'pinned',
    reasoning,
    about,
  }
  const found: CallCursor = {
    openCursor: () => openCursorOfObserved(snapshot, org, experimentId),
    copy: (ids, take) => copyObserved(snapshot, org, { experimentId, outcomes: outcomes.length, ids }, take),
    ...callTuple(layout),
  }
  return {
    layout,
    measured: outcomes,
    keepsAll: true,
    order: 'oldest',
    isWhole: false,
    maxRows: maxObserved,
    pages: (size) => pagesOfCursor(snapshot, order, found, size),
    complete: asRead,
  }
}

export const openSource = async (snapshot: Snapshot, plan: Plan): Promise<ExportSource> => {
  if ('experimentId' in plan) return sourceOfObserved(snapshot, plan)
  return 'cells' in plan ? sourceOfConversations(snapshot, plan) : sourceOfCalls(snapshot, plan)
}
