import Type from 'typebox'
import { oldJudgeRequests } from '../model-providers/request-log/queries.ts'
import { storeDatabaseSize } from '../platform/db/about-database.ts'
import type { Deps } from '../platform/deps.ts'
import { defineCleanup } from '../platform/jobs/define-cleanup.ts'
import { defineJob } from '../platform/jobs/define-job.ts'

/** Records the size of the database, so that its growth is known. */
export const measureDatabase = defineJob({
  name: 'health.measure-database',
  payload: Type.Object({}),
  schedule: '40 * * * *',
  run: ({ db }: Deps) => storeDatabaseSize(db),
})

/** Deletes counts of model endpoint requests that health checks no longer read. */
export const sweepJudgeRequests = defineCleanup({
  name: 'health.sweep-judge-requests',
  schedule: '45 4 * * *',
  rows: { requests: oldJudgeRequests },
})
