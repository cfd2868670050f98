// The files of exports, beyond the time in which they are offered.
import Type from 'typebox'
import { defineFileSweep } from '../platform/blobs/sweep.ts'
import type { Deps } from '../platform/deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listNamedFiles } from './queries.ts'

/** Deletes the file of an export that has none any more. */
export const deleteFile = defineJob({
  name: 'monitor-export.delete-file',
  payload: Type.Object({ key: Type.String() }),
  retryLimit: 20,
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

/** A process that writes on after its attempt was given up leaves a file that no export names. */
export const sweepFiles = defineFileSweep({
  name: 'monitor-export.sweep-files',
  schedule: '0 4 * * *',
  kind: 'exports',
  listNamed: listNamedFiles,
})
