// Deletes files that no export uses any longer.
import Type from 'typebox'
import { defineFileSweep } from '../platform/blobs/sweep.ts'
import type { Deps } from '../platform/deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listNamedFiles } from './queries.ts'

/** Deletes a file after its export has ended. */
export const deleteFile = defineJob({
  name: 'monitor-export.delete-file',
  payload: Type.Object({ key: Type.String() }),
  retryLimit: 20,
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

/**
 * Deletes files without an export. Such files remain if a process continues to write after its attempt was abandoned.
 */
export const sweepFiles = defineFileSweep({
  name: 'monitor-export.sweep-files',
  schedule: '0 4 * * *',
  kind: 'exports',
  listNamed: listNamedFiles,
})
