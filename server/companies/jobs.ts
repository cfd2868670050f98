import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listLogoKeysAllOrgs } from './queries.ts'

/** Deletes an uploaded logo that no company shows any more. */
export const deleteLogo = defineJob({
  name: 'company.delete-logo',
  payload: Type.Object({ key: Type.String() }),
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

const dayMs = 24 * 60 * 60 * 1_000

/** A process that dies between storing a logo and committing its company leaves a file that nothing names. */
export const sweepLogos = defineJob({
  name: 'company.sweep-logos',
  payload: Type.Object({}),
  schedule: '40 3 * * *',
  run: async ({ blobs, db, clock, log }: Deps, _payload, { signal }) => {
    const before = clock.now().getTime() - dayMs
    let deleted = 0
    for await (const { key, modifiedAt } of blobs.list('')) {
      signal.throwIfAborted()
      if (key.split('/')[1] !== 'logos' || modifiedAt.getTime() > before) continue
      if ((await listLogoKeysAllOrgs(db, [key])).length > 0) continue
      await blobs.delete(key)
      deleted++
    }
    if (deleted > 0) log.info({ deleted }, 'deleted logos that no company shows')
  },
})
