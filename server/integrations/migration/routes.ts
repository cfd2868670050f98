import type { FastifyReply } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { AnyQuery, answers, withHeaders } from '../../platform/http/schemas.ts'
import { idOf, objectOf, textOf } from '../../transcripts/json.ts'
import { readBluejay } from './bluejay.ts'
import { readCekura } from './cekura.ts'
import { readCoval } from './coval.ts'
import { takeIn } from './ingest-sent-call.ts'
import { readRoark } from './roark.ts'
import {
  BluejayAnswer,
  BluejayCall,
  CekuraAnswer,
  CekuraCall,
  CovalAnswer,
  CovalConversation,
  RoarkAnswer,
  RoarkCall,
} from './schema.ts'
import { objectsIn } from './sent-call.ts'
import { shortIdOf } from './short-id.ts'

/**
 * Receives requests from other platforms' clients that have a changed base URL. The paths are the ones that the clients
 * use.
 */

const tags = ['Integrations']
const base = '/v1/integrations'

const config = (keyHeader?: string) => ({
  access: { role: 'member' as const },
  foreign: true as const,
  ...(keyHeader !== undefined && { keyHeader }),
})

/** Sets the URL of the conversation. The client reads the ID from the body, in its own format. */
const located = (reply: FastifyReply, id: string) => reply.header('location', `/v1/conversations/${id}`)

export const migrationIntakes = (app: App, deps: Deps): void => {
  const bodyLimit = deps.config.limits.documentBytes

  app.post(
    `${base}/roark/v1/call`,
    {
      bodyLimit,
      config: config(),
      schema: {
        tags,
        operationId: 'receiveRoarkCall',
        summary: 'Send a call with the Roark SDK',
        description: 'To migrate, point the Roark SDK at this address and use an Earshot API key.',
        body: RoarkCall,
        querystring: AnyQuery,
        response: answers({ 200: withHeaders(RoarkAnswer, 'Location') }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const stored = await takeIn(deps, actor, { id: 'roark', name: 'Roark' }, readRoark(body), body)
      const customers = [body.customer, ...objectsIn(body.customers)].flatMap((customer) => {
        const phoneNumberE164 = textOf(objectOf(customer).phoneNumberE164)
        return phoneNumberE164 === null ? [] : [{ phoneNumberE164 }]
      })
      return located(reply, stored.id).send({
        data: {
          id: stored.id,
          agents: [{ id: stored.agentId }],
          callDirection: stored.direction?.toUpperCase() ?? null,
          createdAt: stored.createdAt,
          customers,
          externalId: textOf(body.externalId),
          projectId: actor.org,
          startedAt: stored.startedAt,
          status: 'ENDED',
        },
      })
    },
  )

  app.post(
    // A colon starts a parameter unless it is doubled.
    `${base}/coval/v1/conversations::submit`,
    {
      bodyLimit,
      config: config('x-api-key'),
      schema: {
        tags,
        operationId: 'receiveCovalConversation',
        summary: 'Send a conversation with a Coval client',
        description: 'The key can be sent as `X-API-Key`.',
        body: CovalConversation,
        querystring: AnyQuery,
        response: answers({ 200: withHeaders(CovalAnswer, 'Location') }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const sent = readCoval(body)
      const stored = await takeIn(deps, actor, { id: 'coval', name: 'Coval' }, sent, body)
      const shortId = shortIdOf(stored.id)
      return located(reply, stored.id).send({
        conversation: {
          name: `conversations/${shortId}`,
          conversation_id: shortId,
          status: 'PENDING',
          create_time: stored.createdAt,
          external_conversation_id: stored.externalId ?? '',
          occurred_at: stored.startedAt,
          has_audio: sent.recordingUrl !== null,
          agent_id: idOf(body.agent_id),
          persona_id: null,
          metadata: objectOf(body.metadata),
          tags: Array.isArray(body.tags) ? body.tags.filter((tag) => typeof tag === 'string') : [],
        },
      })
    },
  )

  app.post(
    // The client adds this slash itself.
    `${base}/cekura/observability/v1/observe/`,
    {
      bodyLimit,
      config: config('x-cekura-api-key'),
      schema: {
        tags,
        operationId: 'receiveCekuraCall',
        summary: 'Send a call with a Cekura client',
        description: 'The key can be sent as `X-CEKURA-API-KEY`.',
        body: CekuraCall,
        querystring: AnyQuery,
        response: answers({ 201: CekuraAnswer }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const stored = await takeIn(deps, actor, { id: 'cekura', name: 'Cekura' }, readCekura(body), body)
      return located(reply, stored.id)
        .code(201)
        .send({
          id: stored.id,
          call_id: stored.externalId ?? '',
          agent: body.agent ?? body.agent_id ?? null,
          status: stored.status,
          timestamp: stored.startedAt,
          created_at: stored.createdAt,
        })
    },
  )

  for (const [path, operationId] of [
    ['evaluate', 'receiveBluejayCall'],
    ['evaluate-call', 'receiveBluejayCallByItsFirstName'],
  ] as const) {
    app.post(
      `${base}/bluejay/v1/${path}`,
      {
        bodyLimit,
        config: config('x-api-key'),
        schema: {
          tags,
          operationId,
          summary: 'Send a call with a Bluejay client',
          description: 'The key can be sent as `X-API-Key`.',
          body: BluejayCall,
          querystring: AnyQuery,
          response: answers({ 200: withHeaders(BluejayAnswer, 'Location') }, 400, 401, 403, 409),
        },
      },
      async ({ actor, body }, reply) => {
        const stored = await takeIn(deps, actor, { id: 'bluejay', name: 'Bluejay' }, readBluejay(body), body)
        return located(reply, stored.id).send({
          status: 'success',
          call_id: stored.id,
          message: 'The call was stored.',
        })
      },
    )
  }
}
