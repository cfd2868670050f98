import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { sweepUnnamed } from '../platform/blobs/sweep.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listNamedLogos } from './queries.ts'

/** Deletes an uploaded logo that no company shows any more. */
export const deleteLogo = defineJob({
  name: 'company.delete-logo',
  payload: Type.Object({ key: Type.String() }),
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

export const sweepLogos = defineJob({
  name: 'company.sweep-logos',
  payload: Type.Object({}),
  schedule: '40 3 * * *',
  timeoutSeconds: 60 * 60,
  run: (deps: Deps, _payload, { signal }) =>
    sweepUnnamed(deps, { kind: 'logos', signal, listNamed: (org, keys) => listNamedLogos(deps.db, org, keys) }),
})
