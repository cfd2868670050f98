import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../../platform/http/schemas.ts'
import { conversationExists, deleteMetric, getMetric, listMetrics } from './queries.ts'
import { Metric, MetricBatch, MetricBatchAnswer, MetricParams, MetricUpdate } from './schema.ts'
import { writeBatch, writeMetric } from './write-metrics.ts'

const tags = ['Customer Metrics']

export const customerMetrics = (app: App, deps: Deps): void => {
  const { db, config } = deps
  app.get(
    '/v1/conversations/:id/metrics',
    {
      config: { access: { role: 'viewer', entitlement: 'metrics' } },
      schema: {
        tags,
        operationId: 'listCustomerMetrics',
        summary: 'List a conversation’s metrics',
        description: 'Sorted by key. These are the values you sent, not monitor results.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(Metric) }, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const answer = await app.paging.page(
        query,
        ['customer-metrics', actor.org, params.id.toLowerCase()],
        (page) => listMetrics(db, actor.org, params.id, page),
        ({ key }) => key,
      )
      if (answer.data.length === 0 && !(await conversationExists(db, actor.org, params.id))) throw notFound()
      return answer
    },
  )

  app.get(
    '/v1/conversations/:id/metrics/:key',
    {
      config: { access: { role: 'viewer', entitlement: 'metrics' } },
      schema: {
        tags,
        operationId: 'getCustomerMetric',
        summary: 'Get a conversation’s metric',
        description: 'Returns the latest value and comment.',
        params: MetricParams,
        querystring: NoQuery,
        response: answers({ 200: Metric }, 401, 403, 404),
      },
    },
    ({ actor, params }) => getMetric(db, actor.org, params.id, params.key),
  )

  app.put(
    '/v1/conversations/:id/metrics/:key',
    {
      config: { access: { role: 'member', entitlement: 'metrics' } },
      schema: {
        tags,
        operationId: 'putCustomerMetric',
        summary: 'Set a conversation’s metric',
        description: 'Replaces the value and comment. A conversation can have 200 metrics.',
        params: MetricParams,
        querystring: NoQuery,
        body: MetricUpdate,
        response: answers({ 200: Metric, 201: Metric }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }, reply) => {
      const { id, key } = params
      const { made, metric } = await db.transaction().execute(async (trx) => {
        const row = { conversationId: id.toLowerCase(), key, value: body.value, comment: body.comment ?? null }
        const isNew = await writeMetric(trx, actor.org, row)
        await deps.reactions.metricsStored(trx, actor.org, { measured: [row.conversationId] })
        await recordAudit(trx, actor, 'conversation.metric', { type: 'conversation', id })
        return { made: isNew, metric: await getMetric(trx, actor.org, id, key) }
      })
      if (made) reply.header('location', `/v1/conversations/${id}/metrics/${encodeURIComponent(key)}`)
      return reply.code(made ? 201 : 200).send(metric)
    },
  )

  app.delete(
    '/v1/conversations/:id/metrics/:key',
    {
      config: { access: { role: 'member', entitlement: 'metrics' } },
      schema: {
        tags,
        operationId: 'deleteCustomerMetric',
        summary: 'Delete a conversation’s metric',
        description: 'Returns 404 if the conversation has no metric with this key.',
        params: MetricParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        await deleteMetric(trx, actor.org, params.id, params.key)
        await deps.reactions.metricsStored(trx, actor.org, { measured: [params.id.toLowerCase()] })
        await recordAudit(trx, actor, 'conversation.delete-metric', { type: 'conversation', id: params.id })
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/customer-metrics',
    {
      bodyLimit: config.limits.documentBytes,
      config: { access: { role: 'member', entitlement: 'metrics' }, list: 'metrics' },
      schema: {
        tags,
        operationId: 'createCustomerMetrics',
        summary: 'Set metrics in bulk',
        description:
          'Each metric has its own outcome in the response. If the request contains a key of a conversation more than once, the last value wins.',
        querystring: NoQuery,
        body: MetricBatch,
        response: answers({ 200: MetricBatchAnswer }, 400, 401, 403),
      },
    },
    async ({ actor, body }) =>
      db.transaction().execute(async (trx) => {
        const { data, changed } = await writeBatch(deps, trx, actor.org, body.metrics)
        await deps.reactions.metricsStored(trx, actor.org, { measured: changed })
        await recordAudit(trx, actor, 'conversation.metrics')
        return { data }
      }),
  )
}
