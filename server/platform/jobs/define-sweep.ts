import Type from 'typebox'
import type { Clock } from '../clock.ts'
import type { Db, OrgId } from '../db/database.ts'
import type { Log } from '../log.ts'
import type { Sweeps } from '../sweeps.ts'
import { StaleAttempt } from './attempt.ts'
import { attemptEach } from './attempt-each.ts'
import { type Attempt, defineJob, type Job, OrganizationId } from './define-job.ts'
import { listOrganizationsAllOrgs } from './queries.ts'
import type { Jobs } from './queue.ts'

const enqueuedAtOnce = 500
const singletonKey = 'sweep'

export type SweepDeps = { db: Db; jobs: Jobs; log: Log; sweeps: Sweeps; clock: Clock }

export type SweepPayload = { organizationId?: string; after?: string }

export type SweepDefinition<D, Item extends { id: string }> = {
  name: string
  schedule: string
  /** Returns the time that determines which items are due, or undefined if nothing may currently be swept. */
  time: (deps: D) => Date | Promise<Date | undefined>
  /** Finds organizations that may have due work. */
  listOrganizations: (deps: D, now: Date) => Promise<{ id: OrgId }[]>
  /** Yields an organization's due work in the order of IDs, starting after `after`. */
  listItems: (deps: D, due: { org: OrgId; now: Date; after: string | undefined }) => AsyncIterable<Item>
  sweepItem: (deps: D, item: Item, place: { org: OrgId; now: Date; attempt: Attempt }) => Promise<void>
  /** After this time, an organization's sweep yields to others and is queued again. */
  sliceMs?: number
  concurrency?: number
  timeoutSeconds?: number
}

/** Returns a time that can be trusted for deletions and other decisions by age. */
export const trustedTime = ({ sweeps }: Pick<SweepDeps, 'sweeps'>): Promise<Date | undefined> => sweeps.time()
export const currentTime = ({ clock }: Pick<SweepDeps, 'clock'>): Date => clock.now()

/**
 * Defines recurring work in every organization. Each run enqueues a job for each organization that may have due work,
 * so that organizations take turns as with all jobs. A job that takes too long is queued again. A failure in one
 * organization or item blocks nothing else.
 */
export const defineSweep = <D extends SweepDeps, Item extends { id: string }>({
  name,
  schedule,
  time,
  listOrganizations,
  listItems,
  sweepItem,
  sliceMs = 10_000,
  concurrency = 4,
  timeoutSeconds = 300,
}: SweepDefinition<D, Item>): Job<D, SweepPayload> => {
  /**
   * Lists the organizations with due work. If a database node is unavailable, a query over all organizations fails. In
   * that case, lists all organizations instead.
   */
  const listAny = async (deps: D, now: Date) => {
    try {
      return await listOrganizations(deps, now)
    } catch (error) {
      deps.log.warn({ job: name, err: error }, 'listing due organizations failed; checking all of them')
      return listOrganizationsAllOrgs(deps.db)
    }
  }

  const enqueueEach = async (deps: D, now: Date, attempt: Attempt): Promise<void> => {
    const organizations = await listAny(deps, now)
    for (let at = 0; at < organizations.length; at += enqueuedAtOnce) {
      const payloads = organizations.slice(at, at + enqueuedAtOnce).map(({ id }) => ({ organizationId: id }))
      await attempt.transaction((trx) => deps.jobs.enqueueMany(trx, job, payloads, { singletonKey }))
    }
  }

  const sweepSlice = async (
    deps: D,
    { org, now, after }: { org: OrgId; now: Date; after: string | undefined },
    attempt: Attempt,
  ): Promise<void> => {
    const endsAt = performance.now() + sliceMs
    let next: string | undefined
    const slice = async function* () {
      for await (const item of listItems(deps, { org, now, after })) {
        if (next !== undefined && performance.now() >= endsAt) return
        next = undefined
        yield item
        next = item.id
      }
      next = undefined
    }
    try {
      await attemptEach(attempt, slice(), (item) => sweepItem(deps, item, { org, now, attempt }))
    } catch (error) {
      // The next run retries a failed item, so the others don't have to wait for it.
      if (attempt.signal.aborted || error instanceof StaleAttempt || next === undefined) throw error
      deps.log.error({ job: name, organizationId: org, err: error }, 'part of a sweep failed')
    }
    if (next === undefined) return
    const rest = { organizationId: org, after: next }
    await attempt.finish((trx) => deps.jobs.enqueue(trx, job, rest, { singletonKey }))
  }

  const job: Job<D, SweepPayload> = defineJob({
    name,
    payload: Type.Object({ organizationId: Type.Optional(OrganizationId), after: Type.Optional(Type.String()) }),
    schedule,
    concurrency,
    timeoutSeconds,
    run: async (deps: D, { organizationId, after }, attempt) => {
      const now = await time(deps)
      if (!now) return
      if (organizationId === undefined) return enqueueEach(deps, now, attempt)
      await sweepSlice(deps, { org: organizationId, now, after }, attempt)
    },
  })
  return job
}
