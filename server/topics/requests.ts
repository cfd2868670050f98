// Reads transcripts to find what happens in conversations.

import { readTurns } from '../conversations/ingest/tasks.ts'
import { passagesOf } from '../embeddings/passages.ts'
import { batchesOf } from '../platform/batches.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Turn } from '../transcripts/turn.ts'
import { type Facets, facetsOf } from './facets.ts'
import { listTexts } from './queries.ts'

const textsAtOnce = 100

type ReadDeps = Pick<Deps, 'database' | 'threads'>

/** Computes a value from the turns of each conversation that still exists. Omits undefined values. */
const readEach = async <T>(
  { database, threads }: ReadDeps,
  org: OrgId,
  ids: string[],
  read: (turns: Turn[]) => T | undefined,
): Promise<Map<string, T>> => {
  const values = new Map<string, T>()
  for (const some of batchesOf(ids, textsAtOnce)) {
    for (const { id, content, format, startedAt } of await listTexts(database.dbOf(org), org, some)) {
      const value = read(await readTurns(threads, org, content, { provider: format, startedAt }))
      if (value !== undefined) values.set(id, value)
    }
  }
  return values
}

/** Returns the customer's first request in each conversation that still exists. */
export const readRequests = (deps: ReadDeps, org: OrgId, ids: string[]): Promise<Map<string, string>> =>
  readEach(deps, org, ids, (turns) => passagesOf(turns)[0]?.text)

export const readFacets = (deps: ReadDeps, org: OrgId, ids: string[]): Promise<Map<string, Facets>> =>
  readEach(deps, org, ids, facetsOf)
