import { countBuckets, insertBucket } from '../buckets/queries.ts'
import { defaults } from '../buckets/settings.ts'
import { parseFilter } from '../filters/filter.ts'
import { listMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'

/** Creates the demo's buckets if there are none. They fill up as conversations arrive. */
export const makeBuckets = (db: Db, org: OrgId): Promise<void> =>
  db.transaction().execute(async (trx) => {
    if ((await countBuckets(trx, org)) > 0) return
    const monitors = await listMonitors(trx, org, {}, { limit: 20, after: undefined })
    const idsOf = (...names: string[]) =>
      names.flatMap((name) => monitors.find((monitor) => monitor.name === name)?.id ?? [])
    const [asks, waits] = [idsOf('Asks for a person'), idsOf('Left waiting')]
    if (asks[0] === undefined) return
    await insertBucket(trx, org, {
      ...defaults,
      id: newId(),
      type: 'dynamic',
      drawnUntil: null,
      name: 'Customers who want a person',
      filters: parseFilter({ monitors: [{ id: asks[0], result: 'affected' }] }),
      monitorIds: [...asks, ...waits],
      noteOnDisagreement: true,
    })
    await insertBucket(trx, org, {
      ...defaults,
      id: newId(),
      type: 'sampled',
      drawnUntil: null,
      name: 'Random sample of calls',
      filters: parseFilter({ channels: ['call'] }),
      share: 5,
      monitorIds: [...asks, ...waits],
      blind: true,
      reviewsPerConversation: 2,
    })
  })
