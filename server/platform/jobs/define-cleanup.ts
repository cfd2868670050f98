import type { DueRows } from '../db/due-rows.ts'
import type { Job } from './define-job.ts'
import { defineSweep, type SweepDeps, type SweepPayload, trustedTime } from './define-sweep.ts'

/** The number of rows that one statement handles. */
const batch = 500

type Cleanup = {
  name: string
  schedule: string
  /** The kinds of rows, by the name shown in the log. */
  rows: Record<string, DueRows>
}

type Batch = { id: string; rows: DueRows; count: number }

/**
 * Yields batches of each kind until a batch is not full. Processed rows are no longer due, so the next batch needs no
 * start position.
 */
async function* batchesOf(rows: Cleanup['rows']): AsyncGenerator<Batch> {
  for (const [id, each] of Object.entries(rows)) {
    const next: Batch = { id, rows: each, count: 0 }
    do {
      next.count = 0
      yield next
    } while (next.count === batch)
  }
}

/** Defines a sweep of rows that become due with age. */
export const defineCleanup = ({ name, schedule, rows }: Cleanup): Job<SweepDeps, SweepPayload> =>
  defineSweep<SweepDeps, Batch>({
    name,
    schedule,
    time: trustedTime,
    listOrganizations: async ({ db }, now) => {
      const found = await Promise.all(Object.values(rows).map((each) => each.listOrganizationsAllOrgs(db, now)))
      return [...new Set(found.flat().map(({ id }) => id))].map((id) => ({ id }))
    },
    listItems: () => batchesOf(rows),
    sweepItem: async ({ db, log }, next, { org, now }) => {
      next.count = await next.rows.sweep(db, org, { now, limit: batch })
      if (next.count > 0)
        log.info({ job: name, organizationId: org, kind: next.id, count: next.count }, 'deleted old rows')
    },
  })
