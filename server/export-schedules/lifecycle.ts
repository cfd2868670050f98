// Creates, changes, pauses, resumes, and deletes schedules. `runs/lifecycle.ts` does the same for their runs, and pauses
// schedules that keep failing.

import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { testBucket } from './connection.ts'
import { configOf, requireNamed } from './contents.ts'
import { parseSchedule } from './parse-schedule.ts'
import {
  deleteSchedule,
  getSchedule,
  insertSchedule,
  lockSchedule,
  lockScheduleCount,
  type S3Bucket,
  type ScheduleDestination,
  type StoredSchedule,
  updateSchedule,
} from './queries.ts'
import { plannedAfter } from './recurrence.ts'
import { markMoved } from './runs/queries.ts'
import type { ExportScheduleCreate, ExportScheduleUpdate } from './schema.ts'
import { openSecret, sealSecret } from './secret.ts'
import { show } from './show-schedules.ts'

const mostSchedules = 50

/** Returns the name of a schedule for the audit log. */
export const auditTarget = (id: string) => ({ type: 'export-schedule', id })

const hasSameKey = (a: ScheduleDestination, b: ScheduleDestination): b is S3Bucket =>
  a.type === 's3' &&
  b.type === 's3' &&
  a.bucket === b.bucket &&
  a.endpoint === b.endpoint &&
  a.accessKeyId === b.accessKeyId

/** Returns whether both are the same bucket. Some stores allow the same name in different accounts and regions. */
const isSameBucket = (a: ScheduleDestination, b: ScheduleDestination): boolean =>
  a.type === 's3' && hasSameKey(a, b) && a.region === b.region

/** Returns whether the run times of the schedule have changed. */
const isMoved = (before: StoredSchedule, changed: Pick<StoredSchedule, 'recurrence' | 'config'>): boolean =>
  !isDeepStrictEqual(changed.recurrence, before.recurrence) || changed.config.timezone !== before.config.timezone

const replanned = ({ recurrence, config }: Pick<StoredSchedule, 'recurrence' | 'config'>, now: Date) => ({
  nextRunAt: plannedAfter(recurrence, config.timezone, now),
})

const statusChange = (before: StoredSchedule, status: StoredSchedule['status'] | undefined) => {
  if (status === before.status || status === undefined) return {}
  if (status === 'active') return { status, pauseReason: null, failures: 0 } as const
  return { status, pauseReason: 'by_hand' } as const
}

/** Throws if the service can't write to the bucket. */
const requireBucket = async (deps: Deps, destination: S3Bucket, secret: string): Promise<void> => {
  const { ok, message } = await testBucket(deps, destination, secret)
  if (!ok) throw invalid('destination', `is not reachable: ${message}`)
}

const readNew = ({ config: environment }: Deps, body: Static<typeof ExportScheduleCreate>) => {
  const { config, recurrence, windowRule, destination, coveredUntil } = parseSchedule(body, environment)
  // The schema of the request requires all of these. Their type also describes changes, which can omit them.
  if (!config) throw invalid('config', 'or conversationConfig is required')
  if (!recurrence || !windowRule || !destination) throw invalid('body', 'is incomplete')
  const { secretAccessKey } = body.destination
  if (destination.type === 's3' && secretAccessKey === undefined) {
    throw invalid('destination.secretAccessKey', 'is required for this kind')
  }
  return { config, recurrence, windowRule, destination, coveredUntil, secretAccessKey }
}

/** Tests the bucket before it stores the schedule. */
export const createSchedule = async (deps: Deps, actor: Actor, body: Static<typeof ExportScheduleCreate>) => {
  const { db, clock, secrets } = deps
  const { org } = actor
  const { config, recurrence, windowRule, destination, coveredUntil, secretAccessKey } = readNew(deps, body)
  await requireNamed(db, actor, { config, destination })
  if (destination.type === 's3' && secretAccessKey) await requireBucket(deps, destination, secretAccessKey)
  const id = newId()
  const now = clock.now()
  return db.transaction().execute(async (trx) => {
    if ((await lockScheduleCount(trx, org)) >= mostSchedules) {
      throw new ApiError(
        'conflict',
        `An organization can have at most ${mostSchedules} export schedules. Delete one first.`,
      )
    }
    await requireNamed(trx, actor, { config, destination })
    const stored = await insertSchedule(trx, org, {
      id,
      config,
      recurrence,
      windowRule,
      destination,
      secret: secretAccessKey === undefined ? null : sealSecret(secrets, org, id, secretAccessKey),
      name: body.name,
      settleMinutes: body.settleMinutes ?? 60,
      coveredUntil: coveredUntil ?? now,
      nextRunAt: plannedAfter(recurrence, config.timezone, now),
      ownerUserId: actor.userId,
      createdAt: now,
    })
    await recordAudit(trx, actor, 'export-schedule.create', auditTarget(id))
    return show(trx, org, stored)
  })
}

type Change = Static<typeof ExportScheduleUpdate>

/** Returns the given secret, or the current one if it can be kept when the destination changes. */
const secretFor = (
  { secrets }: Deps,
  org: OrgId,
  before: StoredSchedule,
  { destination, given }: { destination: S3Bucket; given: string | undefined },
): string => {
  if (given !== undefined) return given
  if (before.secret === null || !hasSameKey(destination, before.destination)) {
    throw invalid('destination.secretAccessKey', 'is required to change the bucket, endpoint, or access key ID')
  }
  return openSecret(secrets, org, before.id, before.secret)
}

/**
 * Returns the encrypted secret to store with a changed destination. If the change doesn't contain one, this is the
 * current secret, which another change may have replaced while the bucket was being tested.
 */
const sealedFor = (
  { secrets }: Deps,
  org: OrgId,
  before: StoredSchedule,
  { destination, given }: { destination: ScheduleDestination; given: string | undefined },
) => {
  if (destination.type !== 's3') return null
  if (given !== undefined) return sealSecret(secrets, org, before.id, given)
  if (hasSameKey(destination, before.destination)) return before.secret
  throw new ApiError(
    'conflict',
    'Another request changed the destination at the same time. Get the schedule and send your change again with secretAccessKey.',
  )
}

const storeChange = async (deps: Deps, trx: Db, actor: Actor, before: StoredSchedule, body: Change) => {
  const { org, userId } = actor
  const { name, settleMinutes, status } = body
  const parsed = parseSchedule(body, deps.config)
  const { destination } = parsed
  const changed = { ...before, ...parsed }
  const isResumed = status === 'active' && before.status === 'paused'
  if (parsed.config || destination || isResumed) {
    await requireNamed(trx, actor, { config: configOf(changed), destination: changed.destination })
  }
  const now = deps.clock.now()
  if (destination && !isSameBucket(destination, before.destination)) await markMoved(trx, org, before.id)
  const given = body.destination?.secretAccessKey
  return updateSchedule(trx, org, before.id, {
    ...parsed,
    ...(destination && { secret: sealedFor(deps, org, before, { destination, given }) }),
    ...(name !== undefined && { name }),
    ...(settleMinutes !== undefined && { settleMinutes }),
    ...((isResumed || isMoved(before, changed)) && replanned(changed, now)),
    ...statusChange(before, status),
    ownerUserId: userId,
    updatedAt: now,
  })
}

/** Updates, pauses, or resumes a schedule. Tests a changed bucket first. */
export const changeSchedule = async (deps: Deps, actor: Actor, id: string, body: Change) => {
  const { db, config } = deps
  const { org } = actor
  const { destination } = parseSchedule(body, config)
  const seen = await getSchedule(db, org, id)
  const given = body.destination?.secretAccessKey
  if (destination?.type === 's3') {
    await requireBucket(deps, destination, secretFor(deps, org, seen, { destination, given }))
  }
  return db.transaction().execute(async (trx) => {
    const before = await lockSchedule(trx, org, seen.id)
    if (!before) throw notFound()
    const stored = await storeChange(deps, trx, actor, before, body)
    await recordAudit(trx, actor, 'export-schedule.update', auditTarget(before.id))
    return show(trx, org, stored)
  })
}

/** Deletes a schedule and its runs. Its exports stay. */
export const removeSchedule = ({ db }: Deps, actor: Actor, id: string): Promise<void> =>
  db.transaction().execute(async (trx) => {
    const deleted = await deleteSchedule(trx, actor.org, id)
    await recordAudit(trx, actor, 'export-schedule.delete', auditTarget(deleted.id))
  })
