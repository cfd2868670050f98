// The files of exports after they expired.
import Type from 'typebox'
import { defineFileSweep } from '../platform/blobs/sweep.ts'
import type { Deps } from '../platform/deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listNamedFiles } from './queries.ts'

/** Deletes the file of an export that no longer has one. */
export const deleteFile = defineJob({
  name: 'monitor-export.delete-file',
  payload: Type.Object({ key: Type.String() }),
  retryLimit: 20,
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

/** A process that continues after its attempt was given up leaves an unreferenced file. */
export const sweepFiles = defineFileSweep({
  name: 'monitor-export.sweep-files',
  schedule: '0 4 * * *',
  kind: 'exports',
  listNamed: listNamedFiles,
})
