import Type from 'typebox'
import type { Deps } from '../platform/deps.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { deleteExpiredAddressChanges } from './address/queries.ts'
import { deleteOldAttempts } from './attempts/queries.ts'
import { deleteExpiredSessionsAllOrgs } from './queries.ts'

const batch = 1_000

/**
 * Deletes expired sessions, which are invalid, and old attempts, which no longer count. This only serves to keep the
 * tables small.
 */
export const sweepSessions = defineJob({
  name: 'session.sweep',
  payload: Type.Object({}),
  schedule: '20 3 * * *',
  run: async ({ db, sweeps }: Deps, _payload, { signal }) => {
    const now = await sweeps.time()
    if (!now) return
    while ((await deleteExpiredSessionsAllOrgs(db, now, batch)) === batch) signal.throwIfAborted()
    while ((await deleteOldAttempts(db, batch)) === batch) signal.throwIfAborted()
    await deleteExpiredAddressChanges(db, now)
  },
})
