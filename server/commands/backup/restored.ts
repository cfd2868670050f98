// A restored database next to a bucket has the same identity as the original until its files are separated.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServiceDeps } from '../../deps.ts'
import { claimStore } from '../../platform/blobs/owner.ts'
import { statOrUndefined } from '../../platform/db/embedded-folders.ts'
import { readInstanceId, renewInstanceId } from '../../platform/db/instance.ts'

/** In the folder of the database: both are moved into place at once, and a backup contains both. */
const markName = 'earshot.restored'

export const markRestored = (folder: string): Promise<void> => writeFile(join(folder, markName), '', { mode: 0o600 })

/**
 * A bucket is not part of the backup. It stays with the original database, which may be running. The first start that
 * can delete files there does this, because a restore may have been killed, or may not have known the bucket.
 */
export const becomeAnother = async ({ db, blobs, config }: ServiceDeps): Promise<void> => {
  const mark = join(config.dataDir, 'postgres', markName)
  if (config.databaseUrl !== undefined || config.storage.kind !== 's3' || !(await statOrUndefined(mark))) return
  const original = await readInstanceId(db)
  try {
    await claimStore(blobs, original)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `The database is restored, but its bucket still belongs to the original: ${reason} Start the service once the bucket works.`,
      { cause },
    )
  }
  await renewInstanceId(db)
  await rm(mark)
}
