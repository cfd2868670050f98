import type { Db, OrgId } from '../db/database.ts'
import { readClaimedStorage, readInstanceId, writeClaimedStorage } from '../db/instance.ts'
import { dayMs } from '../durations.ts'
import { ApiError } from '../errors.ts'
import type { Job } from '../jobs/define-job.ts'
import { defineSweep, type SweepDeps, type SweepPayload, trustedTime } from '../jobs/define-sweep.ts'
import { listOrganizationsAllOrgs } from '../jobs/queries.ts'
import type { Log } from '../log.ts'
import type { Blobs } from './blobs.ts'
import { claimStore, hasClaimed } from './owner.ts'

const batchSize = 500

type Owned = { db: Db; blobs: Blobs; log: Log }

/**
 * Throws if this database's files are not in the storage, for example because a mount is missing and its folder is
 * empty.
 */
export const checkOwnStore = async ({ db, blobs }: Pick<Owned, 'db' | 'blobs'>): Promise<void> => {
  if ((await readClaimedStorage(db)) !== blobs.address) return
  if (await hasClaimed(blobs, await readInstanceId(db))) return
  throw new ApiError(
    'unavailable',
    `${blobs.address} does not contain the files of this database. Mount or restore them. If they are lost, start once with \`serve --new-storage\`.`,
  )
}

/** Claims the storage. Returns false and logs a message if it belongs to another database, which may use the files. */
export const claimOwnStore = async ({ db, blobs, log }: Owned): Promise<boolean> => {
  await checkOwnStore({ db, blobs })
  const owners = await claimStore(blobs, await readInstanceId(db))
  if (owners.length > 0) log.error({ owners }, 'the storage belongs to another database, so no files are deleted')
  else await writeClaimedStorage(db, blobs.address)
  return owners.length === 0
}

type SweptStore = SweepDeps & { blobs: Blobs }

type FileSweep = {
  name: string
  schedule: string
  /** The kind of files to sweep, which is the middle segment of their keys. */
  kind: string
  /** Returns which of an organization's files are in use. */
  listNamed: (db: Db, org: OrgId, keys: string[]) => Promise<string[]>
}

type SweepScope = { org: OrgId; now: Date; signal: AbortSignal }

const sweepFiles = async (
  { db, blobs, log }: SweptStore,
  { kind, listNamed }: FileSweep,
  { org, now, signal }: SweepScope,
): Promise<void> => {
  // Newer files may not be referenced yet.
  const before = now.getTime() - dayMs
  let deleted = 0
  let batch: string[] = []
  const sweep = async () => {
    const named = new Set(await listNamed(db, org, batch))
    for (const key of batch) {
      if (named.has(key)) continue
      await blobs.delete(key)
      deleted++
    }
    batch = []
  }
  for await (const { key, modifiedAt } of blobs.list(`${org}/${kind}/`)) {
    signal.throwIfAborted()
    if (modifiedAt.getTime() > before) continue
    batch.push(key)
    if (batch.length === batchSize) await sweep()
  }
  if (batch.length > 0) await sweep()
  if (deleted > 0) log.info({ organizationId: org, kind, deleted }, 'deleted unreferenced files')
}

/**
 * Deletes files that nothing references. Such files remain if a process dies between storing a file and referencing it.
 */
export const defineFileSweep = (sweep: FileSweep): Job<SweptStore, SweepPayload> =>
  defineSweep<SweptStore, { id: string }>({
    name: sweep.name,
    schedule: sweep.schedule,
    timeoutSeconds: 60 * 60,
    time: async (deps) => ((await claimOwnStore(deps)) ? trustedTime(deps) : undefined),
    listOrganizations: ({ db }) => listOrganizationsAllOrgs(db),
    listItems: async function* () {
      yield { id: sweep.kind }
    },
    sweepItem: (deps, _item, { org, now, attempt }) => sweepFiles(deps, sweep, { org, now, signal: attempt.signal }),
  })
