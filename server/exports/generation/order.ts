import type { Selection } from '../../filters/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { FormatName } from '../formats/formats.ts'

/** For every file. */
type FileOrder = {
  org: OrgId
  format: FormatName
  /** The key of the file in the blob store. */
  key: string
  reasoning: boolean
  about: { label: string; value: string }[]
}

/** Calls with their monitor results. */
export type Order = FileOrder & {
  /** In the requested order, distinct, 1 to 20. */
  monitors: { id: string; result: 'all' | 'affected' | 'not_affected' }[]
  match: 'all' | 'any'
  versionScope: 'historical' | 'current'
  /** Company, agent, group, metadata, since, and until, prepared by `parseFilter`, without monitors. */
  selection: Selection
}

/** The conversations of an experiment, with its observations. */
export type ObservationOrder = FileOrder & {
  experimentId: string
  /** In the order of the launch, with the pinned versions. */
  outcomes: { id: string; name: string; version: number }[]
}

/** `sha256` in base64, as `Repr-Digest` requires. */
export type Generated = { rows: number; bytes: number; sha256: string }

/** Calls per export, after all filters. */
export const maxCalls = 100_000
/** Conversations of an experiment per export: an Excel sheet has at most 1,048,576 rows. */
export const maxObserved = 1_000_000

export class TooManyCalls extends Error {
  constructor() {
    super('Too many calls match for one export')
    this.name = 'TooManyCalls'
  }
}
