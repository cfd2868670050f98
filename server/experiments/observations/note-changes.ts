// Marks the experiments that a change may affect, in the transaction of the change. `apply-changes.ts` counts the
// changes later, from the data stored at that time.

import { batchesOf } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { newId } from '../../platform/ids.ts'
import { insertChanges, listConcerned } from './queries.ts'

type ChangeDeps = Pick<Deps, 'clock'>

const batchSize = 10_000

/** Notes that conversations arrived, changed, received results, or are about to be erased. */
export const noteChanges = async (
  { clock }: ChangeDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => {
  if (conversationIds.length === 0) return
  const concerned = await listConcerned(trx, org, conversationIds)
  for (const rows of batchesOf(concerned, batchSize)) {
    await insertChanges(trx, org, { rows: rows.map((row) => ({ ...row, id: newId() })), at: clock.now() })
  }
}
