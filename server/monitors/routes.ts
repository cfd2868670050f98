import { parseFilter } from '../filters/filter.ts'
import { recordAudit } from '../platform/audit/record.ts'
import { invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { createMonitor, lockNamed, requireSound } from './create.ts'
import { completeDefinition } from './definition.ts'
import type { MonitorDeps } from './deps.ts'
import { resolveLearned } from './learned.ts'
import {
  getMonitor,
  listMonitors,
  listMonitorVersions,
  lockMonitor,
  markMonitorDeleted,
  updateMonitor,
} from './queries.ts'
import { changedGate, requireGainShown } from './require-gain.ts'
import { Monitor, MonitorCreate, MonitorQuery, MonitorUpdate, MonitorVersion } from './schema.ts'
import { refuseWhileItem } from './scorecards/items.ts'
import { showMonitor, showMonitors, showVersions } from './shown.ts'
import { nextVersion } from './versions.ts'

const tags = ['Monitors']
const entitlement = 'monitors'

export const monitors = (app: App, deps: MonitorDeps): void => {
  const { db, reactions } = deps

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
      return { data: await showMonitors(deps, actor, data), nextCursor }
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
          'An enabled monitor evaluates conversations that are completed from now on. To evaluate stored ones, ' +
          'create an evaluation. A scorecard combines the results of other monitors and needs no model.',
        querystring: NoQuery,
        body: MonitorCreate,
        response: answers({ 201: Monitor }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const created = await createMonitor(deps, actor, body)
      return reply
        .code(201)
        .header('location', `/v1/monitors/${created.id}`)
        .send(await showMonitor(deps, actor, created))
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
    async ({ actor, params }) => showMonitor(deps, actor, await getMonitor(db, actor.org, params.id)),
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
          'Omitted fields keep their values. A different definition creates a new version, and results from earlier ' +
          'versions are kept. `kind` cannot change. With `requireGain`, a different definition returns 409 unless ' +
          'an admin sends an `overrideReason`. Alternatively, apply an alignment’s proposal.',
        params: IdParams,
        querystring: NoQuery,
        body: MonitorUpdate,
        response: answers({ 200: Monitor }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }) => {
      const { kind, definition: given, scope, overrideReason, requireGain, ...change } = body
      const parsed = scope && parseFilter(scope, 'scope')
      const stored = await getMonitor(db, actor.org, params.id)
      if (kind !== undefined && kind !== stored.kind) {
        throw invalid('kind', `cannot be changed from ${stored.kind}; create another monitor`)
      }
      if (given) await requireSound(deps, actor.org, stored.kind, given)
      const complete = given && completeDefinition(stored.kind, given)
      return db.transaction().execute(async (trx) => {
        const monitor = await lockMonitor(trx, actor.org, params.id)
        const gate = changedGate(actor, monitor, { requireGain })
        const definition = complete && (await resolveLearned(trx, actor.org, monitor.id, complete))
        if (definition) await lockNamed(trx, actor.org, stored.kind, definition)
        const note = definition && requireGainShown(actor, monitor, definition, overrideReason)
        const number = definition && (await nextVersion(trx, actor.org, monitor, definition, note))
        await updateMonitor(trx, actor.org, monitor.id, {
          ...change,
          ...gate,
          ...(parsed && { scope: parsed }),
          ...(number !== undefined && { currentVersion: number }),
        })
        const action = number !== undefined && note != null ? 'monitor.override-gain' : 'monitor.update'
        await recordAudit(trx, actor, action, { type: 'monitor', id: monitor.id })
        return showMonitor({ ...deps, db: trx }, actor, await getMonitor(trx, actor.org, monitor.id))
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
          'Also deletes its versions and results. Returns 409 while a scorecard uses it, or while an experiment ' +
          'measures it or a scorecard version that uses it, and for up to a week after that experiment ends.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const id = params.id.toLowerCase()
      await db.transaction().execute(async (trx) => {
        await markMonitorDeleted(trx, actor.org, id)
        await refuseWhileItem(trx, actor.org, id)
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
        description: 'Newest first. Each result shows the version that produced it.',
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
      return { data: await showVersions(deps, actor, data), nextCursor }
    },
  )
}
