import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../../platform/http/schemas.ts'
import { requireMonitors } from '../requirements.ts'
import { deleteGroup, getGroup, listGroups, updateGroup } from './queries.ts'
import { MonitorGroup, MonitorGroupUpdate } from './schema.ts'

const tags = ['Experiments']
const path = '/v1/experiments/monitor-groups'

/**
 * Adds the endpoints for groups. There is no endpoint that creates a group, because launching an experiment does that.
 */
export const monitorGroups = (app: App, { db, clock }: Deps): void => {
  app.get(
    path,
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listMonitorGroups',
        summary: 'List monitor groups',
        description: 'Newest first. A monitor group is a set of outcomes that experiments can share.',
        querystring: PageQuery,
        response: answers({ 200: Page(MonitorGroup) }, 400, 401),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['monitor-groups', actor.org],
        (page) => listGroups(db, actor.org, page),
        ({ id }) => id,
      ),
  )

  app.get(
    `${path}/:id`,
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getMonitorGroup',
        summary: 'Get a monitor group',
        description: '`metricIds` are the monitors that an experiment with this group measures.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: MonitorGroup }, 401, 404),
      },
    },
    ({ actor, params }) => getGroup(db, actor.org, params.id),
  )

  app.patch(
    `${path}/:id`,
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'updateMonitorGroup',
        summary: 'Update a monitor group',
        description: 'Omitted fields keep their values. Experiments that are already launched do not change.',
        params: IdParams,
        querystring: NoQuery,
        body: MonitorGroupUpdate,
        response: answers({ 200: MonitorGroup }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body: { name, metricIds } }) =>
      db.transaction().execute(async (trx) => {
        const { id } = await getGroup(trx, actor.org, params.id)
        const monitors = metricIds && (await requireMonitors(trx, actor.org, metricIds, 'metricIds'))
        const change = {
          ...(name !== undefined && { name }),
          ...(monitors && { metricIds: monitors.map((one) => one.id) }),
        }
        const group = await updateGroup(trx, actor.org, id, change, clock.now())
        await recordAudit(trx, actor, 'monitor-group.update', { type: 'monitor-group', id })
        return group
      }),
  )

  app.delete(
    `${path}/:id`,
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'deleteMonitorGroup',
        summary: 'Delete a monitor group',
        description: 'Monitors and experiments are not affected.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await deleteGroup(trx, actor.org, params.id)
        await recordAudit(trx, actor, 'monitor-group.delete', { type: 'monitor-group', id })
      })
      return reply.code(204).send(null)
    },
  )
}
