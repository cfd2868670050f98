import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { deleteExpiredSessionsAllOrgs } from './queries.ts'

const batch = 1_000

/** Nobody can use an expired session; this only keeps the table small. */
export const sweepSessions = defineJob({
  name: 'session.sweep',
  payload: Type.Object({}),
  schedule: '20 3 * * *',
  run: async ({ db, sweeps }: Deps, _payload, { signal }) => {
    const now = await sweeps.time()
    if (!now) return
    while ((await deleteExpiredSessionsAllOrgs(db, now, batch)) === batch) signal.throwIfAborted()
  },
})
