import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { publishEvent } from '../webhooks/send.ts'
import { getFinding } from './queries.ts'

type Stored = Awaited<ReturnType<typeof getFinding>>

/** Returns a finding in the API's format, which omits some values if they are not set. */
export const shown = ({ description, assigneeUserId, sourceKind, sourceId, ...finding }: Stored) => ({
  ...finding,
  ...(description !== null && { description }),
  ...(assigneeUserId !== null && { assigneeUserId }),
  source: { kind: sourceKind, id: sourceId },
})

export type AnnounceDeps = Pick<Deps, 'jobs' | 'clock' | 'reactions'>

/** Notifies subscribed endpoints in the transaction that creates or updates the finding. Returns the finding. */
export const announceFinding = async (
  deps: AnnounceDeps,
  trx: Db,
  org: OrgId,
  id: string,
  what: 'created' | 'updated',
) => {
  const data = shown(await getFinding(trx, org, id))
  await publishEvent(deps, trx, org, { type: `finding.${what}`, data })
  return data
}
