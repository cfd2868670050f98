import type { Db, OrgId } from '../../platform/db/database.ts'
import { listSyncs } from './queries.ts'
import { listLastRuns } from './runs/queries.ts'

type Row = Awaited<ReturnType<typeof listSyncs>>[number]
type LastRun = Awaited<ReturnType<typeof listLastRuns>>[number]

const stateOf = ({ enabled, pausedReason }: Row, lastRun: LastRun | undefined) => {
  if (lastRun?.status === 'running') return 'running' as const
  if (!enabled) return 'off' as const
  return pausedReason === null ? ('waiting' as const) : ('paused' as const)
}

/** Returns the syncs of these integrations in the API's format. */
export const findShownSyncs = async (db: Db, org: OrgId, integrationIds: string[]) => {
  const rows = await listSyncs(db, org, integrationIds)
  const lastRuns = new Map((await listLastRuns(db, org, integrationIds)).map((run) => [run.integrationId, run]))
  return new Map(
    rows.map((row) => {
      const lastRun = lastRuns.get(row.integrationId)
      const state = stateOf(row, lastRun)
      const nextRunAt = state === 'off' || state === 'paused' ? null : row.nextRunAt
      return [row.integrationId, { ...row, state, nextRunAt, lastRun: lastRun ?? null }]
    }),
  )
}
