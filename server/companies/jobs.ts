import Type from 'typebox'
import { defineFileSweep } from '../platform/blobs/sweep.ts'
import type { Deps } from '../platform/deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listNamedLogos } from './queries.ts'

/** Deletes an uploaded logo that companies no longer use. */
export const deleteLogo = defineJob({
  name: 'company.delete-logo',
  payload: Type.Object({ key: Type.String() }),
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

export const sweepLogos = defineFileSweep({
  name: 'company.sweep-logos',
  schedule: '40 3 * * *',
  kind: 'logos',
  listNamed: listNamedLogos,
})
