// A restored database keeps the identity of the original, so both would own the same storage bucket until the restored
// one gets a new identity.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServiceDeps } from '../../deps.ts'
import { claimStore } from '../../platform/blobs/owner.ts'
import { statOrUndefined } from '../../platform/db/embedded-folders.ts'
import { readInstanceId, renewInstanceId } from '../../platform/db/instance.ts'

/** The marker is in the database's folder, because both are renamed together and a backup contains both. */
const markName = 'earshot.restored'

export const markRestored = (folder: string): Promise<void> => writeFile(join(folder, markName), '', { mode: 0o600 })

/**
 * Gives a restored database a new identity. A bucket is not part of the backup and stays with the original database,
 * which may still be running. This runs on the first start that can reach the bucket, because a restore can be killed
 * or run without the bucket's settings.
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
