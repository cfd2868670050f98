import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import {
  deleteEndpoint,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  lockEndpointCount,
  updateEndpoint,
} from './queries.ts'
import {
  Approval,
  WebhookEndpoint,
  WebhookEndpointCreate,
  WebhookEndpointUpdate,
  WebhookEndpointWithSecret,
} from './schema.ts'
import { newSecret, sealSecret } from './secret.ts'
import { checkEndpointUrl } from './url.ts'

const tags = ['Webhooks']
const mostEndpoints = 20

const target = (id: string) => ({ type: 'webhookEndpoint', id })

export const webhookEndpoints = (app: App, { db, secrets, clock, config }: Deps): void => {
  const shown = <E extends { previousSecretUntil: Date | null }>(endpoint: E): E => {
    const { previousSecretUntil } = endpoint
    const isRotating = previousSecretUntil !== null && previousSecretUntil > clock.now()
    return isRotating ? endpoint : { ...endpoint, previousSecretUntil: null }
  }

  app.get(
    '/v1/webhook-endpoints',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listWebhookEndpoints',
        summary: 'List webhook endpoints',
        description: 'Newest first. Signing secrets are never shown.',
        querystring: PageQuery,
        response: answers({ 200: Page(WebhookEndpoint) }, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['webhook-endpoints', actor.org],
        (page) => listEndpoints(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: data.map(shown), nextCursor }
    },
  )

  app.post(
    '/v1/webhook-endpoints',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createWebhookEndpoint',
        summary: 'Create a webhook endpoint',
        description:
          'An admin has to approve it first, even if an admin created it. An organization can have 20 endpoints.',
        querystring: NoQuery,
        body: WebhookEndpointCreate,
        response: answers({ 201: WebhookEndpointWithSecret }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const { name, url, events = [] } = body
      checkEndpointUrl(url, config)
      const id = newId()
      const secret = newSecret()
      const endpoint = await db.transaction().execute(async (trx) => {
        if ((await lockEndpointCount(trx, actor.org)) >= mostEndpoints) {
          throw new ApiError(
            'conflict',
            `An organization can have at most ${mostEndpoints} webhook endpoints. Delete one first.`,
          )
        }
        const created = await insertEndpoint(trx, actor.org, {
          id,
          name,
          url,
          events,
          secret: sealSecret(secrets, actor.org, id, secret),
          createdByUserId: actor.userId,
          now: clock.now(),
        })
        await recordAudit(trx, actor, 'webhookEndpoint.create', target(id))
        return created
      })
      return reply
        .code(201)
        .header('location', `/v1/webhook-endpoints/${id}`)
        .send({ ...endpoint, secret })
    },
  )

  app.get(
    '/v1/webhook-endpoints/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getWebhookEndpoint',
        summary: 'Get a webhook endpoint',
        description: '`disabledReason` says why a disabled endpoint gets no events. The signing secret is never shown.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: WebhookEndpoint }, 401, 404),
      },
    },
    async ({ actor, params }) => shown(await getEndpoint(db, actor.org, params.id)),
  )

  app.patch(
    '/v1/webhook-endpoints/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateWebhookEndpoint',
        summary: 'Update a webhook endpoint',
        description: 'If the URL changes, the endpoint is `proposed` until an admin approves it again.',
        params: IdParams,
        querystring: NoQuery,
        body: WebhookEndpointUpdate,
        response: answers({ 200: WebhookEndpoint }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) => {
      if (body.url !== undefined) checkEndpointUrl(body.url, config)
      return db.transaction().execute(async (trx) => {
        const { id, url } = await lockEndpoint(trx, actor.org, params.id)
        const moves = body.url !== undefined && body.url !== url
        const afresh = { status: 'proposed', disabledReason: null, approval: null, failingSince: null } as const
        const changed = await updateEndpoint(trx, actor.org, id, { ...body, ...(moves && afresh) }, clock.now())
        await recordAudit(trx, actor, 'webhookEndpoint.update', target(id))
        return shown(changed)
      })
    },
  )

  app.delete(
    '/v1/webhook-endpoints/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'deleteWebhookEndpoint',
        summary: 'Delete a webhook endpoint',
        description: 'Pending deliveries are not sent. To stop deliveries temporarily, disable it instead.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await deleteEndpoint(trx, actor.org, params.id)
        await recordAudit(trx, actor, 'webhookEndpoint.delete', target(id))
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/webhook-endpoints/:id/approve',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'approveWebhookEndpoint',
        summary: 'Approve or re-enable a webhook endpoint',
        description: 'Send the `url` you reviewed. Returns 409 if the endpoint’s address has changed.',
        params: IdParams,
        querystring: NoQuery,
        body: Approval,
        response: answers({ 200: WebhookEndpoint }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const { id, url, status } = await lockEndpoint(trx, actor.org, params.id)
        if (status === 'active') throw new ApiError('conflict', 'The endpoint is already active.')
        if (body?.url !== undefined && body.url !== url) {
          throw new ApiError('conflict', 'The URL of the endpoint was changed. Check it before you approve it.')
        }
        const now = clock.now()
        const approval = { userId: actor.userId, at: now }
        const change = { status: 'active', disabledReason: null, failingSince: null, approval } as const
        const approved = await updateEndpoint(trx, actor.org, id, change, now)
        await recordAudit(trx, actor, 'webhookEndpoint.approve', target(id))
        return shown(approved)
      }),
  )

  app.post(
    '/v1/webhook-endpoints/:id/disable',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'disableWebhookEndpoint',
        summary: 'Disable a webhook endpoint',
        description: 'Also rejects a proposed endpoint. To enable it again, approve it.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: WebhookEndpoint }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params }) =>
      db.transaction().execute(async (trx) => {
        const { id, status } = await lockEndpoint(trx, actor.org, params.id)
        if (status === 'disabled') throw new ApiError('conflict', 'The endpoint is already disabled.')
        const change = { status: 'disabled', disabledReason: 'by_admin' } as const
        const disabled = await updateEndpoint(trx, actor.org, id, change, clock.now())
        await recordAudit(trx, actor, 'webhookEndpoint.disable', target(id))
        return shown(disabled)
      }),
  )

  app.post(
    '/v1/webhook-endpoints/:id/rotate-secret',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate a webhook endpoint’s secret',
        description:
          'For 24 hours, deliveries are signed with both secrets. The new secret is shown only in this response.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: WebhookEndpointWithSecret }, 400, 401, 403, 404),
      },
    },
    ({ actor, params }) =>
      db.transaction().execute(async (trx) => {
        const before = await lockEndpoint(trx, actor.org, params.id)
        const now = clock.now()
        const secret = newSecret()
        const change = {
          secret: sealSecret(secrets, actor.org, before.id, secret),
          previousSecret: { sealed: before.secret, until: new Date(now.getTime() + dayMs) },
        }
        const rotated = await updateEndpoint(trx, actor.org, before.id, change, now)
        await recordAudit(trx, actor, 'webhookEndpoint.rotate-secret', target(before.id))
        return { ...rotated, secret }
      }),
  )
}
