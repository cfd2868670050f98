import type { Selection } from '../../filters/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { FormatName } from '../formats/formats.ts'

export type Order = {
  org: OrgId
  format: FormatName
  /** Where the file goes in the blob store. */
  key: string
  /** In the order asked, distinct, 1 to 20. */
  monitors: { id: string; result: 'all' | 'affected' | 'not_affected' }[]
  match: 'all' | 'any'
  versionScope: 'historical' | 'current'
  reasoning: boolean
  /** Company, agent, group, metadata, since and until, made ready by `parseFilter`; no monitors in it. */
  selection: Selection
  about: { label: string; value: string }[]
}

/** `sha256` in base64, as `Repr-Digest` wants it. */
export type Generated = { rows: number; bytes: number; sha256: string }

/** Calls in one export, after all filters. */
export const maxCalls = 100_000

export class TooManyCalls extends Error {
  constructor() {
    super('More calls match than one export may hold')
    this.name = 'TooManyCalls'
  }
}
