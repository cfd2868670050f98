import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, withHeaders } from '../../platform/http/schemas.ts'
import { newId } from '../../platform/ids.ts'
import type { Message } from '../message.ts'
import { getDestination } from '../queries.ts'
import { sendMessage } from '../send.ts'
import { deliverMessage } from './jobs.ts'
import {
  getMessageDelivery,
  listMessageAttempts,
  listMessageDeliveries,
  lockMessageDelivery,
  restartMessageDelivery,
} from './queries.ts'
import { MessageDelivery, MessageDeliveryParams, MessageDeliveryQuery, MessageDeliveryWithAttempts } from './schema.ts'

const tags = ['Alerts']
const mostAttempts = 50

const checkActive = ({ status }: { status: string }): void => {
  if (status !== 'active') throw new ApiError('conflict', 'The destination is disabled. Enable it first.')
}

const testMessage = (name: string, baseUrl: string): Message => ({
  kind: 'test',
  severity: 'info',
  title: `Test from Earshot: ${name}`,
  text: 'This destination works. Alerts will arrive here. If this test opened an incident, you can close it.',
  facts: [{ label: 'Destination', value: name }],
  examples: [],
  links: [{ label: 'Open Earshot', url: baseUrl }],
})

export const destinationDeliveries = (app: App, { db, jobs, clock, baseUrl }: Deps): void => {
  app.get(
    '/v1/destinations/:id/deliveries',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listDestinationDeliveries',
        summary: 'List a destination’s deliveries',
        description: 'Covers the last 30 days, newest first. Use `status` to filter.',
        params: IdParams,
        querystring: MessageDeliveryQuery,
        response: answers({ 200: Page(MessageDelivery) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const destination = await getDestination(db, actor.org, params.id)
      const { limit, cursor, status } = query
      const filter = { destinationId: destination.id, ...(status !== undefined && { status }) }
      return app.paging.page(
        { limit, cursor },
        ['destination-deliveries', actor.org, filter],
        (page) => listMessageDeliveries(db, actor.org, filter, page),
        ({ id }) => id,
      )
    },
  )

  app.get(
    '/v1/destinations/:id/deliveries/:deliveryId',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'getDestinationDelivery',
        summary: 'Get a destination’s delivery',
        description: 'Includes the message and all attempts, each with the destination’s response or the error.',
        params: MessageDeliveryParams,
        querystring: NoQuery,
        response: answers({ 200: MessageDeliveryWithAttempts }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const delivery = await getMessageDelivery(db, actor.org, params.id, params.deliveryId)
      return { ...delivery, attempts: await listMessageAttempts(db, actor.org, delivery.id, mostAttempts) }
    },
  )

  app.post(
    '/v1/destinations/:id/deliveries/:deliveryId/redeliver',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'redeliverDestinationMessage',
        summary: 'Redeliver a message',
        description:
          'Returns 409 if the delivery is pending, if a newer message about the same subject exists, or if the destination is disabled.',
        params: MessageDeliveryParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: MessageDelivery }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const restarted = await db.transaction().execute(async (trx) => {
        const destination = await getDestination(trx, actor.org, params.id)
        const { id, status, attemptCount, isSuperseded } = await lockMessageDelivery(
          trx,
          actor.org,
          destination.id,
          params.deliveryId,
        )
        checkActive(destination)
        if (status === 'pending') {
          throw new ApiError('conflict', 'The delivery is pending. `nextAttemptAt` is the time of the next attempt.')
        }
        if (status === 'superseded' || isSuperseded) {
          throw new ApiError('conflict', 'A newer message replaced this one. Redeliver that one.')
        }
        const payload = { organizationId: actor.org, destinationId: destination.id, deliveryId: id }
        await jobs.enqueue(trx, deliverMessage, { ...payload, attempt: attemptCount + 1 })
        const target = { type: 'destination', id: destination.id }
        await recordAudit(trx, actor, 'destination.redeliver', target, { type: 'destinationDelivery', id })
        return restartMessageDelivery(trx, actor.org, id, clock.now())
      })
      return reply.code(202).send(restarted)
    },
  )

  app.post(
    '/v1/destinations/:id/test',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'testDestination',
        summary: 'Send a test message to a destination',
        description: 'Sends a test immediately. Follow `Location` for the response. The destination must be active.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: withHeaders(MessageDelivery, 'Location') }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const delivery = await db.transaction().execute(async (trx) => {
        const { id, name, status } = await getDestination(trx, actor.org, params.id)
        checkActive({ status })
        const message = testMessage(name, baseUrl())
        const sentId = await sendMessage({ jobs, clock }, trx, actor.org, {
          destinationId: id,
          subjectId: newId(),
          message,
        })
        // Another request has just deleted the destination.
        if (sentId === undefined) throw notFound()
        await recordAudit(trx, actor, 'destination.test', { type: 'destination', id })
        const { message: _message, ...shown } = await getMessageDelivery(trx, actor.org, id, sentId)
        return shown
      })
      const location = `/v1/destinations/${params.id}/deliveries/${delivery.id}`
      return reply.code(202).header('location', location).send(delivery)
    },
  )
}
