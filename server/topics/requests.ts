import { readTurns } from '../conversations/ingest/tasks.ts'
import { passagesOf } from '../embeddings/passages.ts'
import { batchesOf } from '../platform/batches.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { listTexts } from './queries.ts'

const textsAtOnce = 100

/** Returns what customers ask for first, for each conversation that still exists. */
export const readRequests = async (
  { database, threads }: Pick<Deps, 'database' | 'threads'>,
  org: OrgId,
  ids: string[],
): Promise<Map<string, string>> => {
  const requests = new Map<string, string>()
  for (const some of batchesOf(ids, textsAtOnce)) {
    for (const { id, content, format, startedAt } of await listTexts(database.dbOf(org), org, some)) {
      const [first] = passagesOf(await readTurns(threads, org, content, { provider: format, startedAt }))
      if (first) requests.set(id, first.text)
    }
  }
  return requests
}
