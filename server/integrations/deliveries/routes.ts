import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, invalid, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { limitByAddress } from '../../platform/http/rate-limit.ts'
import { AnyQuery, answers, IdParams, NoBody, NoQuery, Page, RawBody } from '../../platform/http/schemas.ts'
import { readStreamedBody } from '../audio/read-body.ts'
import { receiveAudio } from '../audio/receive.ts'
import { openPayload } from '../payload.ts'
import { findCalledIntegrationAllOrgs, getSealedIntegration } from '../queries.ts'
import { receiveDelivery } from '../receive.ts'
import { openValidSecrets } from '../secret.ts'
import { checkElevenlabs, type RequestHead } from '../signatures.ts'
import { hasSignature, isStreaming, verifyWebhook, webhookBodyLimit } from '../verify-by-provider.ts'
import { getDelivery, listDeliveries } from './queries.ts'
import { replayDelivery } from './replay.ts'
import { Delivery, DeliveryParams, DeliveryQuery, DeliveryWithPayload, Received } from './schema.ts'

type CalledIntegration = NonNullable<Awaited<ReturnType<typeof findCalledIntegrationAllOrgs>>>

declare module 'fastify' {
  interface FastifyRequest {
    /** The integration that the webhook belongs to. */
    called: CalledIntegration & { head: RequestHead }
  }
}

const tags = ['Integrations']

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const refusals = {
  invalid: 'The signature does not match the secret or the settings of this integration.',
  stale:
    'The signature is valid, but its timestamp is too far from the current time. Check the clocks and send it again.',
}

/** Returns the content type, truncated to the length that can be stored. */
const contentTypeOf = ({ headers }: FastifyRequest): string | null => headers['content-type']?.slice(0, 255) ?? null

export const deliveries = (app: App, deps: Deps): void => {
  const { db, clock, secrets, config, baseUrl } = deps
  const { ratePerSecond, rateBurst, documentBytes } = config.limits
  const countWebhook = limitByAddress(
    { perSecond: ratePerSecond, burst: rateBurst },
    'Too many webhooks from this IP address. Slow down.',
  )
  const countRefused = limitByAddress(
    { perSecond: 20, burst: 200 },
    'Too many rejected webhooks from this IP address. Wait before you retry.',
  )

  const refuse = (request: FastifyRequest, verdict: keyof typeof refusals) => {
    countRefused(request.ip)
    return new ApiError('unauthorized', refusals[verdict])
  }

  /**
   * Finds the integration. Rejects the request before its body is read if the integration is unknown or the signature
   * is missing.
   */
  const findCalled = async (request: FastifyRequest): Promise<void> => {
    countWebhook(request.ip)
    const { id } = request.params as { id: string }
    if (!uuid.test(id)) throw invalid('id', 'must be a UUID')
    const found = await findCalledIntegrationAllOrgs(db, id)
    if (!found) {
      countRefused(request.ip)
      throw notFound()
    }
    if (found.suspendedAt) throw new ApiError('forbidden', 'The organization is suspended.')
    const head = {
      headers: request.headers,
      now: clock.now(),
      url: `${baseUrl()}${request.originalUrl}`,
      secrets: openValidSecrets(secrets, found, clock.now()),
    }
    if (!hasSignature(found.provider, found.settings, head)) throw refuse(request, 'invalid')
    request.maxBodyBytes = webhookBodyLimit(found.provider, head)
    request.streamsBody = isStreaming(found.provider)
    request.called = { ...found, head }
  }

  const receiveStream = async (request: FastifyRequest) => {
    const { called, raw, arriving } = request
    // If the body has not been read yet, the handler receives it as a stream.
    const body = request.body as Readable | undefined
    if (!body) throw refuse(request, 'invalid')
    const read = await readStreamedBody(deps, called.org, body, {
      announcedBytes: Number(request.headers['content-length']),
      check: checkElevenlabs(called.head),
      refuse: (verdict) => refuse(request, verdict),
      hold: (bytes) => arriving?.hold(bytes),
    }).catch((error: unknown) => {
      if (raw.aborted) throw invalid('', 'The body is incomplete. Send it again.')
      raw.resume()
      throw error
    })
    const contentType = contentTypeOf(request)
    return 'audio' in read
      ? receiveAudio(deps, called, read, contentType)
      : receiveDelivery(deps, called, { body: read.payload, contentType })
  }

  const receive = async (request: FastifyRequest) => {
    const { provider, settings, head, ...integration } = request.called
    if (isStreaming(provider)) return receiveStream(request)
    // The schema requires a body, but Fastify doesn't validate requests without one.
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
    const verdict = verifyWebhook(provider, settings, { ...head, body })
    if (verdict !== 'valid') throw refuse(request, verdict)
    return receiveDelivery(deps, { ...integration, provider, settings }, { body, contentType: contentTypeOf(request) })
  }

  app.decorateRequest('called')

  app.post(
    '/v1/integrations/:id/webhook',
    {
      onRequest: findCalled,
      bodyLimit: documentBytes,
      config: {
        access: 'public',
        takes: 'bytes',
        foreign: true,
        unaudited: 'The list of deliveries records it.',
      },
      schema: {
        tags,
        operationId: 'receiveWebhook',
        summary: 'Receive a provider’s webhook',
        description:
          'Verifies the provider’s signature and applies the payload before responding. Payloads that cannot be ' +
          'applied get 202 and are kept; see `/deliveries` for the reason. ElevenLabs audio is stored as the ' +
          'conversation’s recording. If the conversation does not exist yet, the audio is kept for a day.',
        params: IdParams,
        body: RawBody,
        querystring: AnyQuery,
        response: answers({ 200: Received, 202: Received }, 400, 401, 403, 404, 503),
      },
    },
    async (request, reply) => {
      const { status, conversationId, deliveryId } = await receive(request)
      const settled = status === 'applied' || status === 'unchanged' || status === 'ignored' || status === 'erased'
      return reply.code(settled ? 200 : 202).send({ deliveryId, status, conversationId })
    },
  )

  app.get(
    '/v1/integrations/:id/deliveries',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listDeliveries',
        summary: 'List an integration’s deliveries',
        description: 'Newest first. Deliveries are kept for 90 days. Use `status` to filter.',
        params: IdParams,
        querystring: DeliveryQuery,
        response: answers({ 200: Page(Delivery) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const integration = await getSealedIntegration(db, actor.org, params.id)
      const { limit, cursor, status } = query
      const filter = { integrationId: integration.id, ...(status !== undefined && { status }) }
      return app.paging.page(
        { limit, cursor },
        ['integration-deliveries', actor.org, filter],
        (page) => listDeliveries(db, actor.org, filter, page),
        ({ id }) => id,
      )
    },
  )

  app.get(
    '/v1/integrations/:id/deliveries/:deliveryId',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'getDelivery',
        summary: 'Get an integration’s delivery',
        description:
          'Includes the payload, which is kept for 7 days if it was applied or changed nothing, and for 30 days otherwise.',
        params: DeliveryParams,
        querystring: NoQuery,
        response: answers({ 200: DeliveryWithPayload }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const { payload, ...delivery } = await getDelivery(db, actor.org, params.id, params.deliveryId)
      const bytes = payload && (await openPayload(secrets, actor.org, delivery.id, payload))
      return { ...delivery, payload: bytes ? bytes.toString('utf8') : null }
    },
  )

  app.post(
    '/v1/integrations/:id/deliveries/:deliveryId/replay',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'replayDelivery',
        summary: 'Replay an integration’s delivery',
        description:
          'Applies the payload again, for example after you fixed the cause of a failure. Works while `replayable` is true.',
        params: DeliveryParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: Delivery }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }) => {
      const integration = await getSealedIntegration(db, actor.org, params.id)
      const delivery = await getDelivery(db, actor.org, integration.id, params.deliveryId)
      await replayDelivery(deps, actor, integration, delivery)
      const { payload: _payload, ...replayed } = await getDelivery(db, actor.org, integration.id, delivery.id)
      return replayed
    },
  )
}
