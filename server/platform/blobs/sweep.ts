import type { Db, OrgId } from '../db/database.ts'
import { readClaimedStorage, readInstanceId, writeClaimedStorage } from '../db/instance.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Sweeps } from '../sweeps.ts'
import type { Blobs } from './blobs.ts'
import { claimStore, hasClaimed } from './owner.ts'

const dayMs = 86_400_000
const batchSize = 500

type Owned = { db: Db; blobs: Blobs; log: Log }

/** Refuses a storage from which the files of this database are gone, such as the empty folder below a missing mount. */
export const checkOwnStore = async ({ db, blobs }: Pick<Owned, 'db' | 'blobs'>): Promise<void> => {
  if ((await readClaimedStorage(db)) !== blobs.address) return
  if (await hasClaimed(blobs, await readInstanceId(db))) return
  throw new ApiError(
    'unavailable',
    `The files of this database are not in ${blobs.address}. Mount or restore them; if they are lost, start once with \`serve --new-storage\`.`,
  )
}

/** False, and said in the log, where the storage is another database's: that one's files are no litter. */
export const claimOwnStore = async ({ db, blobs, log }: Owned): Promise<boolean> => {
  await checkOwnStore({ db, blobs })
  const owners = await claimStore(blobs, await readInstanceId(db))
  if (owners.length > 0) log.error({ owners }, 'the storage is another database’s: no file is swept')
  else await writeClaimedStorage(db, blobs.address)
  return owners.length === 0
}

type Sweep = {
  /** The middle part of the keys that are swept. */
  kind: string
  /** Which of these files something names; they are of this organization. */
  listNamed: (org: OrgId, keys: string[]) => Promise<string[]>
  signal: AbortSignal
}

/** A process that dies between storing a file and naming it leaves one that nobody will ever find. */
export const sweepUnnamed = async (
  deps: Owned & { sweeps: Sweeps },
  { kind, listNamed, signal }: Sweep,
): Promise<void> => {
  if (!(await claimOwnStore(deps))) return
  const { blobs, sweeps, log } = deps
  const now = await sweeps.time()
  if (!now) return
  // What is younger may be about to be named.
  const before = now.getTime() - dayMs
  let deleted = 0
  let batch: string[] = []
  let org = '' as OrgId
  const sweep = async () => {
    const named = new Set(await listNamed(org, batch))
    for (const key of batch) {
      if (named.has(key)) continue
      await blobs.delete(key)
      deleted++
    }
    batch = []
  }
  for await (const { key, modifiedAt } of blobs.list('')) {
    signal.throwIfAborted()
    // A key begins with the id of its organization.
    const [organization, kindOfKey] = key.split('/') as [OrgId, string]
    if (kindOfKey !== kind || modifiedAt.getTime() > before) continue
    if (batch.length > 0 && (organization !== org || batch.length === batchSize)) await sweep()
    org = organization
    batch.push(key)
  }
  if (batch.length > 0) await sweep()
  if (deleted > 0) log.info({ kind, deleted }, 'deleted files that nothing names')
}
