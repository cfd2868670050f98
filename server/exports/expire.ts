import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineSweep, trustedTime } from '../platform/jobs/define-sweep.ts'
import { endExport } from './jobs.ts'
import {
  listExpired,
  listOrganizationsWithExpiredAllOrgs,
  lockExport,
  lockExportsOfCalls,
  lockLine,
  markOutdated,
  type Placed,
} from './queries.ts'

const batch = 100

const expire = async (deps: Deps, trx: Db, org: OrgId, id: string): Promise<void> => {
  await lockLine(trx, org)
  const held = await lockExport(trx, org, id)
  if (held) await endExport(deps, trx, org, held, { status: 'expired' })
}

/** Ends what was offered for its 30 days. Links that were given out ended with them. */
export const expireExports = defineSweep({
  name: 'monitor-export.expire',
  schedule: '* * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithExpiredAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batch, (page) => listExpired(db, org, now, page), after),
  sweepItem: (deps, { id }, { org, attempt }) => attempt.transaction((trx) => expire(deps, trx, org, id)),
})

/**
 * No file holds what was erased: exports of calls of that time and that agent are expired, and those that are being
 * written begin anew. In the transaction of the erasure, which nothing can begin beside: it holds the line.
 */
export const expireExportsOfCalls = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { conversations }: { conversations: Placed[] },
): Promise<void> => {
  await lockLine(trx, org)
  const exports = await lockExportsOfCalls(trx, org, conversations)
  const unfinished = exports.filter(({ status }) => status !== 'completed').map(({ id }) => id)
  if (unfinished.length > 0) await markOutdated(trx, org, unfinished)
  for (const held of exports) await endExport(deps, trx, org, held, { status: 'expired' })
}
