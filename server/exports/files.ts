// The files of exports, beyond the time in which they are offered.
import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listFileKeysAllOrgs } from './queries.ts'

/** Deletes the file of an export that has none any more. */
export const deleteFile = defineJob({
  name: 'monitor-export.delete-file',
  payload: Type.Object({ key: Type.String() }),
  retryLimit: 20,
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

const dayMs = 86_400_000

/** A process that writes on after its attempt was given up leaves a file that nothing names. */
export const sweepFiles = defineJob({
  name: 'monitor-export.sweep-files',
  payload: Type.Object({}),
  schedule: '50 3 * * *',
  run: async ({ blobs, db, clock, log }: Deps, _payload, { signal }) => {
    const before = clock.now().getTime() - dayMs
    let deleted = 0
    for await (const { key, modifiedAt } of blobs.list('')) {
      signal.throwIfAborted()
      if (key.split('/')[1] !== 'exports' || modifiedAt.getTime() > before) continue
      if ((await listFileKeysAllOrgs(db, [key])).length > 0) continue
      await blobs.delete(key)
      deleted++
    }
    if (deleted > 0) log.info({ deleted }, 'deleted files that no export offers')
  },
})
