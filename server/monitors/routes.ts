import { parseFilter } from '../filters/filter.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid, invalidAll } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { checkDefinition, type MonitorDefinition, type MonitorKind } from './definition.ts'
import { requireJudgeProvider } from './judge-provider.ts'
import {
  countMonitors,
  getMonitor,
  insertMonitor,
  insertMonitorVersion,
  listMonitors,
  listMonitorVersions,
  lockMonitor,
  markMonitorDeleted,
  updateMonitor,
} from './queries.ts'
import { Monitor, MonitorCreate, MonitorQuery, MonitorUpdate, MonitorVersion } from './schema.ts'
import { nextVersion } from './versions.ts'

/**
 * The maximum number of monitors of an organization, because each can run on every conversation. Concurrent requests
 * can exceed the limit slightly.
 */
const mostMonitors = 500

const tags = ['Monitors']
const entitlement = 'monitors'

const shown = ({ number, definition, versionCreatedAt, ...monitor }: Awaited<ReturnType<typeof getMonitor>>) => ({
  ...monitor,
  // Definitions were validated for their kind when they were stored.
  currentVersion: { number, definition: definition as MonitorDefinition, createdAt: versionCreatedAt },
})

export const monitors = (app: App, { db, config, reactions }: Deps): void => {
  const requireSound = (kind: MonitorKind, definition: MonitorDefinition): void => {
    const issues = checkDefinition(kind, definition)
    if (issues.length > 0) throw invalidAll(issues)
    if (kind === 'judge') requireJudgeProvider(config.judge, 'model' in definition ? definition.model : undefined)
  }

  app.get(
    '/v1/monitors',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'listMonitors',
        summary: 'List monitors',
        description: 'Newest first, with their current versions. All filters must match.',
        querystring: MonitorQuery,
        response: answers({ 200: Page(Monitor) }, 400, 401, 403),
      },
    },
    async ({ actor, query: { limit, cursor, ...filter } }) => {
      const { data, nextCursor } = await app.paging.page(
        { limit, cursor },
        ['monitors', actor.org, filter],
        (page) => listMonitors(db, actor.org, filter, page),
        ({ id }) => id,
      )
      return { data: data.map(shown), nextCursor }
    },
  )

  app.post(
    '/v1/monitors',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'createMonitor',
        summary: 'Create a monitor',
        description:
          'An enabled monitor evaluates conversations that are completed from now on. To evaluate stored ones, create an evaluation.',
        querystring: NoQuery,
        body: MonitorCreate,
        response: answers({ 201: Monitor }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const { name, description = null, kind, definition, samplePercent = 100, enabled = true } = body
      const scope = parseFilter(body.scope ?? {}, 'scope')
      requireSound(kind, definition)
      const id = newId()
      const created = await db.transaction().execute(async (trx) => {
        if ((await countMonitors(trx, actor.org)) >= mostMonitors) {
          throw new ApiError('conflict', `An organization can have at most ${mostMonitors} monitors. Delete one first.`)
        }
        await insertMonitor(trx, actor.org, { id, name, description, kind, enabled, scope, samplePercent })
        await insertMonitorVersion(trx, actor.org, id, 1, definition)
        await recordAudit(trx, actor, 'monitor.create', { type: 'monitor', id })
        return getMonitor(trx, actor.org, id)
      })
      return reply.code(201).header('location', `/v1/monitors/${id}`).send(shown(created))
    },
  )

  app.get(
    '/v1/monitors/:id',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'getMonitor',
        summary: 'Get a monitor',
        description: 'Includes the current version. For earlier versions, use `/versions`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Monitor }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => shown(await getMonitor(db, actor.org, params.id)),
  )

  app.patch(
    '/v1/monitors/:id',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'updateMonitor',
        summary: 'Update a monitor',
        description:
          'Omitted fields keep their values. A different definition creates a new version, and results of earlier versions are kept. `kind` cannot change.',
        params: IdParams,
        querystring: NoQuery,
        body: MonitorUpdate,
        response: answers({ 200: Monitor }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) => {
      const { kind, definition, scope, ...change } = body
      const parsed = scope && parseFilter(scope, 'scope')
      return db.transaction().execute(async (trx) => {
        const monitor = await lockMonitor(trx, actor.org, params.id)
        if (kind !== undefined && kind !== monitor.kind) {
          throw invalid('kind', `cannot be changed from ${monitor.kind}; create another monitor`)
        }
        if (definition) requireSound(monitor.kind, definition)
        const number = definition && (await nextVersion(trx, actor.org, monitor, definition))
        await updateMonitor(trx, actor.org, monitor.id, {
          ...change,
          ...(parsed && { scope: parsed }),
          ...(number !== undefined && { currentVersion: number }),
        })
        await recordAudit(trx, actor, 'monitor.update', { type: 'monitor', id: monitor.id })
        return shown(await getMonitor(trx, actor.org, monitor.id))
      })
    },
  )

  app.delete(
    '/v1/monitors/:id',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'deleteMonitor',
        summary: 'Delete a monitor',
        description:
          'Also deletes its versions and results. Returns 409 while an experiment measures it and for up to a week after that experiment ends.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const id = params.id.toLowerCase()
      await db.transaction().execute(async (trx) => {
        await markMonitorDeleted(trx, actor.org, id)
        await reactions.monitorDeleted(trx, actor.org, { monitorId: id })
        await recordAudit(trx, actor, 'monitor.delete', { type: 'monitor', id })
      })
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/v1/monitors/:id/versions',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'listMonitorVersions',
        summary: 'List a monitor’s versions',
        description: 'Newest first. Each result names the version that produced it.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(MonitorVersion) }, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getMonitor(db, actor.org, params.id)
      const { data, nextCursor } = await app.paging.page(
        query,
        ['monitor-versions', actor.org, id],
        (page) => listMonitorVersions(db, actor.org, id, page),
        ({ number }) => String(number),
      )
      return {
        data: data.map((version) => ({ ...version, definition: version.definition as MonitorDefinition })),
        nextCursor,
      }
    },
  )
}
