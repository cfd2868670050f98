import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { requireSelected } from '../exports/requirements.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { findEndpoint } from '../webhooks/queries.ts'
import { sendEvent } from '../webhooks/send.ts'
import { type Tested, testBucket } from './connection.ts'
import { configOf, parseSchedule, type ScheduledConfig } from './parse-schedule.ts'
import {
  deleteSchedule,
  getSchedule,
  insertSchedule,
  listSchedules,
  lockSchedule,
  lockScheduleCount,
  type S3Bucket,
  type ScheduleDestination,
  type StoredSchedule,
  updateSchedule,
} from './queries.ts'
import { plannedAfter } from './recurrence.ts'
import { markMoved } from './runs/queries.ts'
import { ExportSchedule, ExportScheduleCreate, ExportScheduleTest, ExportScheduleUpdate } from './schema.ts'
import { openSecret, sealSecret } from './secret.ts'
import { show, showAll } from './show-schedules.ts'

const tags = ['Monitors']
const needs = { entitlement: 'monitors', feature: 'monitorExports' } as const
const mostSchedules = 50

const target = (id: string) => ({ type: 'export-schedule', id })

const hasSameKey = (a: ScheduleDestination, b: ScheduleDestination): b is S3Bucket =>
  a.type === 's3' &&
  b.type === 's3' &&
  a.bucket === b.bucket &&
  a.endpoint === b.endpoint &&
  a.accessKeyId === b.accessKeyId

/** Returns whether both are the same bucket. Some stores allow equal names for different accounts and regions. */
const isSameBucket = (a: ScheduleDestination, b: ScheduleDestination): boolean =>
  a.type === 's3' && hasSameKey(a, b) && a.region === b.region

/** Returns whether the schedule runs at other times than before. */
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

export const exportSchedules = (app: App, deps: Deps): void => {
  const { db, clock, secrets, config: environment } = deps

  const requireNamed = (trx: Db, actor: Actor, config: ScheduledConfig, destination: ScheduleDestination) => {
    const endpoint = destination.type === 'webhook' ? { notificationEndpointId: destination.webhookEndpointId } : {}
    return requireSelected(trx, actor, { ...config, ...endpoint }, 'destination.webhookEndpointId')
  }

  /** Throws if the service can't write to the bucket. */
  const requireBucket = async (destination: S3Bucket, secret: string): Promise<void> => {
    const { ok, message } = await testBucket(deps, destination, secret)
    if (!ok) throw invalid('destination', `is not reachable: ${message}`)
  }

  app.get(
    '/v1/export-schedules',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'listExportSchedules',
        summary: 'List export schedules',
        description: 'Newest first, each with its last run and the time of the next one.',
        querystring: PageQuery,
        response: answers({ 200: Page(ExportSchedule) }, 400, 401, 403, 503),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['export-schedules', actor.org],
        (page) => listSchedules(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: await showAll(db, actor.org, data), nextCursor }
    },
  )

  app.post(
    '/v1/export-schedules',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'createExportSchedule',
        summary: 'Create an export schedule',
        description:
          'Tests a bucket first by writing and deleting a small object. Each run creates an ordinary export. An ' +
          'organization can have 50 schedules.',
        querystring: NoQuery,
        body: ExportScheduleCreate,
        response: answers({ 201: ExportSchedule }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, body }, reply) => {
      const parsed = parseSchedule(body, environment)
      const { config, recurrence, windowRule, destination } = parsed
      // The schema of the request requires all of these. Their type also describes changes, which can omit them.
      if (!config || !recurrence || !windowRule || !destination) throw invalid('body', 'is incomplete')
      const { secretAccessKey } = body.destination
      if (destination.type === 's3' && secretAccessKey === undefined) {
        throw invalid('destination.secretAccessKey', 'is required for this kind')
      }
      await requireNamed(db, actor, config, destination)
      if (destination.type === 's3' && secretAccessKey) await requireBucket(destination, secretAccessKey)
      const id = newId()
      const now = clock.now()
      const secret = secretAccessKey === undefined ? null : sealSecret(secrets, actor.org, id, secretAccessKey)
      const made = await db.transaction().execute(async (trx) => {
        if ((await lockScheduleCount(trx, actor.org)) >= mostSchedules) {
          throw new ApiError(
            'conflict',
            `An organization can have at most ${mostSchedules} export schedules. Delete one first.`,
          )
        }
        await requireNamed(trx, actor, config, destination)
        const stored = await insertSchedule(trx, actor.org, {
          id,
          config,
          recurrence,
          windowRule,
          destination,
          secret,
          name: body.name,
          settleMinutes: body.settleMinutes ?? 60,
          coveredUntil: parsed.coveredUntil ?? now,
          nextRunAt: plannedAfter(recurrence, config.timezone, now),
          ownerUserId: actor.userId,
          createdAt: now,
        })
        await recordAudit(trx, actor, 'export-schedule.create', target(id))
        return show(trx, actor.org, stored)
      })
      return reply.code(201).header('location', `/v1/export-schedules/${id}`).send(made)
    },
  )

  app.get(
    '/v1/export-schedules/:id',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'getExportSchedule',
        summary: 'Get an export schedule',
        description: '`pauseReason` says why a paused schedule does not run.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: ExportSchedule }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }) => show(db, actor.org, await getSchedule(db, actor.org, params.id)),
  )

  /** Returns the given secret, or the current one if a change of the destination can keep it. */
  const secretFor = (org: Actor['org'], before: StoredSchedule, destination: S3Bucket, given: string | undefined) => {
    if (given !== undefined) return given
    if (before.secret === null || !hasSameKey(destination, before.destination)) {
      throw invalid('destination.secretAccessKey', 'is required to change the bucket, endpoint, or access key ID')
    }
    return openSecret(secrets, org, before.id, before.secret)
  }

  /**
   * Returns the encrypted secret to store with a changed destination. If the change contains none, this is the current
   * secret, which another change may have replaced while the bucket was tested.
   */
  const sealedFor = (
    org: Actor['org'],
    before: StoredSchedule,
    destination: ScheduleDestination,
    given: string | undefined,
  ) => {
    if (destination.type !== 's3') return null
    if (given !== undefined) return sealSecret(secrets, org, before.id, given)
    if (hasSameKey(destination, before.destination)) return before.secret
    throw new ApiError(
      'conflict',
      'Another request changed the destination at the same time. Get the schedule and send your change again with secretAccessKey.',
    )
  }

  const change = async (trx: Db, actor: Actor, before: StoredSchedule, body: Static<typeof ExportScheduleUpdate>) => {
    const { org } = actor
    const { name, settleMinutes, status } = body
    const parsed = parseSchedule(body, environment)
    const { destination } = parsed
    const changed = { ...before, ...parsed }
    const isResumed = status === 'active' && before.status === 'paused'
    if (parsed.config || destination || isResumed) {
      await requireNamed(trx, actor, configOf(changed), changed.destination)
    }
    const now = clock.now()
    if (destination && !isSameBucket(destination, before.destination)) await markMoved(trx, org, before.id)
    const given = body.destination?.secretAccessKey
    return updateSchedule(trx, org, before.id, {
      ...parsed,
      ...(destination && { secret: sealedFor(org, before, destination, given) }),
      ...(name !== undefined && { name }),
      ...(settleMinutes !== undefined && { settleMinutes }),
      ...((isResumed || isMoved(before, changed)) && replanned(changed, now)),
      ...statusChange(before, status),
      ownerUserId: actor.userId,
      updatedAt: now,
    })
  }

  app.patch(
    '/v1/export-schedules/:id',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'updateExportSchedule',
        summary: 'Update, pause, or resume an export schedule',
        description:
          'Nested objects are replaced as a whole. You become the schedule’s owner. A resumed schedule runs at ' +
          'its next time; with `since_last_run`, its window includes the pause.',
        params: IdParams,
        querystring: NoQuery,
        body: ExportScheduleUpdate,
        response: answers({ 200: ExportSchedule }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, params, body }) => {
      const { org } = actor
      const { destination } = parseSchedule(body, environment)
      const seen = await getSchedule(db, org, params.id)
      const given = body.destination?.secretAccessKey
      if (destination?.type === 's3') await requireBucket(destination, secretFor(org, seen, destination, given))
      return db.transaction().execute(async (trx) => {
        const before = await lockSchedule(trx, org, seen.id)
        if (!before) throw notFound()
        const stored = await change(trx, actor, before, body)
        await recordAudit(trx, actor, 'export-schedule.update', target(before.id))
        return show(trx, org, stored)
      })
    },
  )

  app.delete(
    '/v1/export-schedules/:id',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'deleteExportSchedule',
        summary: 'Delete an export schedule',
        description: 'Deletes its runs and keeps the exports it created. To stop it temporarily, pause it.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await deleteSchedule(trx, actor.org, params.id)
        await recordAudit(trx, actor, 'export-schedule.delete', target(id))
      })
      return reply.code(204).send(null)
    },
  )

  const testDestination = async (org: Actor['org'], { id, destination, secret }: StoredSchedule): Promise<Tested> => {
    if (destination.type === 's3') {
      return testBucket(deps, destination, openSecret(secrets, org, id, secret ?? ''))
    }
    const endpoint = await findEndpoint(db, org, destination.webhookEndpointId)
    if (!endpoint) return { ok: false, message: 'The webhook endpoint was deleted.' }
    if (endpoint.status !== 'active') return { ok: false, message: `The webhook endpoint is ${endpoint.status}.` }
    const event = { type: 'webhook.test', data: { endpointId: endpoint.id, name: endpoint.name } } as const
    await db.transaction().execute((trx) => sendEvent(deps, trx, org, endpoint.id, event))
    return { ok: true, message: 'A webhook.test event was queued. See the endpoint’s deliveries for the result.' }
  }

  app.post(
    '/v1/export-schedules/:id/test',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'testExportSchedule',
        summary: 'Test an export schedule’s destination',
        description: 'Writes and deletes a small object in a bucket, or sends a `webhook.test` event to an endpoint.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: ExportScheduleTest }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }) => {
      const schedule = await getSchedule(db, actor.org, params.id)
      await recordAudit(db, actor, 'export-schedule.test', target(schedule.id))
      return testDestination(actor.org, schedule)
    },
  )
}
