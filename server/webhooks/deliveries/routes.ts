import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, withHeaders } from '../../platform/http/schemas.ts'
import { getEndpoint } from '../queries.ts'
import { sendEvent } from '../send.ts'
import { deliver } from './jobs.ts'
import { getDelivery, listAttempts, listDeliveries, lockDelivery, restartDelivery } from './queries.ts'
import { Delivery, DeliveryParams, DeliveryQuery, DeliveryWithAttempts } from './schema.ts'

const tags = ['Webhooks']
const shownAttempts = 50

const checkActive = ({ status }: { status: string }): void => {
  if (status === 'active') return
  throw new ApiError('conflict', `The endpoint is ${status}. An admin has to approve it first.`)
}

const target = (endpointId: string) => ({ type: 'webhookEndpoint', id: endpointId })

export const webhookDeliveries = (app: App, { db, jobs, clock }: Deps): void => {
  app.get(
    '/v1/webhook-endpoints/:id/deliveries',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listWebhookDeliveries',
        summary: 'List a webhook endpoint’s deliveries',
        description: 'Covers the last 30 days, newest first. Use `status` to filter.',
        params: IdParams,
        querystring: DeliveryQuery,
        response: answers({ 200: Page(Delivery) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const endpoint = await getEndpoint(db, actor.org, params.id)
      const { limit, cursor, status } = query
      const filter = { endpointId: endpoint.id, ...(status !== undefined && { status }) }
      return app.paging.page(
        { limit, cursor },
        ['webhook-deliveries', actor.org, filter],
        (page) => listDeliveries(db, actor.org, filter, page),
        ({ id }) => id,
      )
    },
  )

  app.get(
    '/v1/webhook-endpoints/:id/deliveries/:deliveryId',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'getWebhookDelivery',
        summary: 'Get a webhook delivery',
        description: 'Includes the body and all attempts, each with your server’s status or the error.',
        params: DeliveryParams,
        querystring: NoQuery,
        response: answers({ 200: DeliveryWithAttempts }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const endpoint = await getEndpoint(db, actor.org, params.id)
      const delivery = await getDelivery(db, actor.org, endpoint.id, params.deliveryId)
      return { ...delivery, attempts: await listAttempts(db, actor.org, delivery.id, shownAttempts) }
    },
  )

  app.post(
    '/v1/webhook-endpoints/:id/deliveries/:deliveryId/redeliver',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'redeliverWebhook',
        summary: 'Redeliver a webhook',
        description:
          'Uses the same `webhook-id`. Returns 409 while the delivery is pending or if the endpoint is not active.',
        params: DeliveryParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: Delivery }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const restarted = await db.transaction().execute(async (trx) => {
        const endpoint = await getEndpoint(trx, actor.org, params.id)
        const delivery = await lockDelivery(trx, actor.org, endpoint.id, params.deliveryId)
        checkActive(endpoint)
        if (delivery.status === 'pending') {
          throw new ApiError('conflict', 'The delivery is still pending. It is retried at `nextAttemptAt`.')
        }
        const again = { deliveryId: delivery.id, attempt: delivery.attemptCount + 1 }
        await jobs.enqueue(trx, deliver, { organizationId: actor.org, endpointId: endpoint.id, ...again })
        await recordAudit(trx, actor, 'webhookEndpoint.redeliver', target(endpoint.id), {
          type: 'webhookDelivery',
          id: delivery.id,
        })
        return restartDelivery(trx, actor.org, delivery.id, clock.now())
      })
      return reply.code(202).send(restarted)
    },
  )

  app.post(
    '/v1/webhook-endpoints/:id/test',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'testWebhookEndpoint',
        summary: 'Send a test event to a webhook endpoint',
        description:
          'Sends `webhook.test` now. Follow `Location` to see your server’s response. The endpoint must be active.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: withHeaders(Delivery, 'Location') }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const delivery = await db.transaction().execute(async (trx) => {
        const { id, name, status } = await getEndpoint(trx, actor.org, params.id)
        checkActive({ status })
        const event = { type: 'webhook.test', data: { endpointId: id, name } } as const
        const sent = await sendEvent({ jobs, clock }, trx, actor.org, id, event)
        // Another request has just deleted the endpoint.
        if (sent === undefined) throw notFound()
        await recordAudit(trx, actor, 'webhookEndpoint.test', target(id))
        return getDelivery(trx, actor.org, id, sent)
      })
      const { body: _body, ...shown } = delivery
      const location = `/v1/webhook-endpoints/${params.id}/deliveries/${shown.id}`
      return reply.code(202).header('location', location).send(shown)
    },
  )
}
