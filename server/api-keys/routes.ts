import { getFirstOwner } from '../members/queries.ts'
import { recordAudit, recordServiceAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { hasRole } from '../platform/identity/actor.ts'
import { ApiKey, CreatedApiKey } from '../platform/identity/schema.ts'
import { orgIdOf } from '../platform/ids.ts'
import { createApiKey } from './create.ts'
import { getApiKeyReach, listApiKeys, revokeApiKey } from './queries.ts'
import { ApiKeyCreate } from './schema.ts'

const tags = ['API Keys']

export const apiKeys = (app: App, { db, identity, clock }: Deps): void => {
  app.get(
    '/v1/api-keys',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description: 'Newest first, including revoked keys. Shows only each key’s prefix.',
        querystring: PageQuery,
        response: answers({ 200: Page(ApiKey) }, 401, 403),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['api-keys', actor.org],
        (page) => listApiKeys(db, actor.org, page),
        ({ id }) => id,
      ),
  )

  app.post(
    '/v1/api-keys',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: 'The key acts as you, and its role cannot exceed yours. The key is shown only in this response.',
        querystring: NoQuery,
        body: ApiKeyCreate,
        response: answers({ 201: CreatedApiKey }, 400, 401, 403),
      },
    },
    async ({ actor, body }, reply) => {
      if (!hasRole(actor.role, body.role)) {
        throw new ApiError(
          'forbidden',
          `Your role is ${actor.role}, so you cannot create a key with the role ${body.role}.`,
        )
      }
      const key = await db.transaction().execute(async (trx) => {
        const created = await createApiKey(trx, clock, actor.org, actor.userId, body)
        await recordAudit(trx, actor, 'apiKey.create', { type: 'apiKey', id: created.id })
        return created
      })
      return reply.code(201).header('location', '/v1/api-keys').send(key)
    },
  )

  app.delete(
    '/v1/api-keys/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'Requests with the key get 401 from now on. Only an owner can revoke an owner’s key.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await identity.change(actor.org, async (trx) => {
        if (!hasRole(actor.role, await getApiKeyReach(trx, actor.org, params.id))) {
          throw new ApiError('forbidden', 'Only an owner can revoke a key with the role owner.')
        }
        const { id } = await revokeApiKey(trx, actor.org, params.id, clock.now())
        await recordAudit(trx, actor, 'apiKey.revoke', { type: 'apiKey', id })
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/organizations/:id/api-keys',
    {
      config: { access: 'service' },
      schema: {
        tags: ['Organizations'],
        operationId: 'provisionApiKey',
        summary: 'Create an API key for an organization’s owner',
        description: 'The key is shown only in this response.',
        params: IdParams,
        querystring: NoQuery,
        body: ApiKeyCreate,
        response: answers({ 201: CreatedApiKey }, 400, 401, 404),
      },
    },
    async ({ service, params, body }, reply) => {
      const org = orgIdOf(params.id)
      const key = await db.transaction().execute(async (trx) => {
        const owner = await getFirstOwner(trx, org)
        const created = await createApiKey(trx, clock, org, owner.userId, body)
        await recordServiceAudit(trx, org, service, 'apiKey.create', { type: 'apiKey', id: created.id })
        return created
      })
      return reply.code(201).header('location', '/v1/api-keys').send(key)
    },
  )
}
