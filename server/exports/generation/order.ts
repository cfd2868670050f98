import type { Selection } from '../../filters/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { FormatName } from '../formats/formats.ts'

/** Of every file. */
type FileOrder = {
  org: OrgId
  format: FormatName
  /** Where the file goes in the blob store. */
  key: string
  reasoning: boolean
  about: { label: string; value: string }[]
}

/** Calls with what monitors found of them. */
export type Order = FileOrder & {
  /** In the order asked, distinct, 1 to 20. */
  monitors: { id: string; result: 'all' | 'affected' | 'not_affected' }[]
  match: 'all' | 'any'
  versionScope: 'historical' | 'current'
  /** Company, agent, group, metadata, since and until, made ready by `parseFilter`; no monitors in it. */
  selection: Selection
}

/** The conversations that an experiment counts, with what it observed of them. */
export type ObservationOrder = FileOrder & {
  experimentId: string
  /** In the order of the launch, with the versions that it pinned. */
  outcomes: { id: string; name: string; version: number }[]
}

/** `sha256` in base64, as `Repr-Digest` wants it. */
export type Generated = { rows: number; bytes: number; sha256: string }

/** Calls in one export, after all filters. */
export const maxCalls = 100_000
/** Conversations of an experiment in one export: a sheet of Excel holds 1,048,576 rows. */
export const maxObserved = 1_000_000

export class TooManyCalls extends Error {
  constructor() {
    super('Too many calls match for one export')
    this.name = 'TooManyCalls'
  }
}
