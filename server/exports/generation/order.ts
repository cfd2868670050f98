import type { Resolved, Selection } from '../../filters/queries.ts'
import type { Sorting } from '../../filters/sort.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Similar } from '../../platform/meanings.ts'
import type { FormatName } from '../formats/formats.ts'
import type { CallType } from '../slice.ts'
import type { CellSource } from './queries.ts'

/** The properties of an order for any file format. */
type FileOrder = {
  org: OrgId
  format: FormatName
  /** The key of the file in file storage. */
  key: string
  reasoning: boolean
  about: { label: string; value: string }[]
}

/** An order for calls with their monitor results. */
export type Order = FileOrder & {
  /** The monitors in the requested order. They are distinct, and there are 1 to 20 of them. */
  monitors: { id: string; result: 'all' | 'affected' | 'not_affected' }[]
  match: 'all' | 'any'
  versionScope: 'historical' | 'current'
  /**
   * The filter by company, agent, group, metadata, and time, prepared by `parseFilter`. It contains no monitor
   * conditions.
   */
  selection: Resolved
}

/**
 * `name` is the column's name or, for monitors, the end of the name. The names of monitors are read with their results.
 */
export type ConversationCell = { name: string; type: CallType; width?: number; source: CellSource }

/** An order for the conversations of a list. */
export type ConversationOrder = FileOrder & {
  /** The filter with fixed times. */
  selection: Selection<Similar[]> & { since: string; until: string }
  sorting: Sorting
  cells: ConversationCell[]
  /** The monitors with all columns for their results. */
  monitorIds: string[]
}

/** Returns the monitors in an export of conversations, starting with those that have all columns. */
export const monitorIdsOf = ({ cells, monitorIds }: Pick<ConversationOrder, 'cells' | 'monitorIds'>): string[] => {
  const ofCells = cells.flatMap(({ source }) => ('monitorId' in source ? source.monitorId : []))
  return [...new Set([...monitorIds, ...ofCells])]
}

/** An order for the conversations of an experiment and their observations. */
export type ObservationOrder = FileOrder & {
  experimentId: string
  /**
   * The outcomes in the order set at launch, with their monitors' pinned versions. A monitor can have several outcomes.
   */
  outcomes: { id: string; name: string; version: number }[]
}

/**
 * An order with the statement that finds its calls. Without a statement, the order includes all calls of its period.
 * The plan is sent as JSON.
 */
type FindingStatement = { statement?: { text: string; values: unknown[] } }
export type CallPlan = Order & FindingStatement
export type ConversationPlan = ConversationOrder & FindingStatement
export type AnyOrder = Order | ConversationOrder | ObservationOrder
export type Plan = CallPlan | ConversationPlan | ObservationOrder

/** `sha256` is in base64, as `Repr-Digest` requires. */
export type Generated = { rows: number; bytes: number; sha256: string }

/** The maximum number of calls or conversations in an export, after all filters. */
export const maxCalls = 100_000
/** The maximum number of an experiment's conversations in an export. An Excel sheet has at most 1,048,576 rows. */
export const maxObserved = 1_000_000

export class TooManyCalls extends Error {
  constructor() {
    super('Too many calls match for one export')
    this.name = 'TooManyCalls'
  }
}
