import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery, withHeaders } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import type { AgentDeps } from './deps.ts'
import {
  getAgent,
  getVersion,
  insertAgent,
  listAgents,
  listVersions,
  replaceGroupsOfAgent,
  updateAgent,
} from './queries.ts'
import { readPolicy } from './recording-policy.ts'
import {
  Agent,
  AgentCreate,
  AgentQuery,
  AgentUpdate,
  AgentVersion,
  AgentVersionCreate,
  VersionParams,
} from './schema.ts'
import { noModel } from './sound-settings.ts'
import { findOrMakeVersion } from './version.ts'

const tags = ['Agents']

export const agents = (app: App, { db, clock, reactions, checkTranscriptionModel }: AgentDeps): void => {
  const checkModel = async (trx: Db, org: OrgId, model: string | null | undefined) => {
    if (model && model !== noModel) await checkTranscriptionModel(trx, org, model)
  }

  app.get(
    '/v1/agents',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listAgents',
        summary: 'List agents',
        description: 'Newest first. All filters must match.',
        querystring: AgentQuery,
        response: answers({ 200: Page(Agent) }, 400, 401),
      },
    },
    ({ actor, query: { limit, cursor, ...filter } }) =>
      app.paging.page(
        { limit, cursor },
        ['agents', actor.org, filter],
        (page) => listAgents(db, actor.org, filter, page),
        ({ id }) => id,
      ),
  )

  app.post(
    '/v1/agents',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createAgent',
        summary: 'Create an agent',
        description: 'Returns 409 if another agent has the same `externalId`.',
        querystring: NoQuery,
        body: AgentCreate,
        response: answers({ 201: Agent }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const { groupIds = [], recordings: _, ...agent } = body
      const recordings = readPolicy(actor, body)
      const created = await db.transaction().execute(async (trx) => {
        const id = newId()
        await checkModel(trx, actor.org, agent.transcriptionModel)
        await insertAgent(trx, actor.org, { id, ...agent, recordings })
        await replaceGroupsOfAgent(trx, actor.org, id, groupIds)
        await recordAudit(trx, actor, 'agent.create', { type: 'agent', id })
        return getAgent(trx, actor.org, id)
      })
      return reply.code(201).header('location', `/v1/agents/${created.id}`).send(created)
    },
  )

  app.get(
    '/v1/agents/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getAgent',
        summary: 'Get an agent',
        description: 'Works for archived agents too; see `archivedAt`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Agent }, 401, 404),
      },
    },
    ({ actor, params }) => getAgent(db, actor.org, params.id),
  )

  app.patch(
    '/v1/agents/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateAgent',
        summary: 'Update or unarchive an agent',
        description:
          'Omitted fields keep their values. `groupIds` replaces the whole list. `archived: false` unarchives the agent.',
        params: IdParams,
        querystring: NoQuery,
        body: AgentUpdate,
        response: answers({ 200: Agent }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) => {
      const { groupIds, archived, recordings: _, ...change } = body
      const recordings = readPolicy(actor, body)
      return db.transaction().execute(async (trx) => {
        await checkModel(trx, actor.org, change.transcriptionModel)
        await updateAgent(trx, actor.org, params.id, {
          ...change,
          recordings,
          ...(archived !== undefined && { archivedAt: archived ? clock.now() : null }),
        })
        if (groupIds) await replaceGroupsOfAgent(trx, actor.org, params.id, groupIds)
        if (recordings?.kept) await reactions.recordingPolicyChanged(trx, actor.org, { agentId: params.id })
        await recordAudit(trx, actor, 'agent.update', { type: 'agent', id: params.id })
        return getAgent(trx, actor.org, params.id)
      })
    },
  )

  app.delete(
    '/v1/agents/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'archiveAgent',
        summary: 'Archive an agent',
        description: 'Its conversations are kept. To unarchive it, update it with `archived: false`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        await updateAgent(trx, actor.org, params.id, { archivedAt: clock.now() })
        await recordAudit(trx, actor, 'agent.archive', { type: 'agent', id: params.id })
      })
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/v1/agents/:id/versions',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listAgentVersions',
        summary: 'List an agent’s versions',
        description: 'Newest first. Versions are numbered per agent, starting at 1.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(AgentVersion) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const agent = await getAgent(db, actor.org, params.id)
      return app.paging.page(
        query,
        ['agent-versions', actor.org, agent.id],
        (page) => listVersions(db, actor.org, agent.id, page),
        ({ number }) => String(number),
      )
    },
  )

  app.post(
    '/v1/agents/:id/versions',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createAgentVersion',
        summary: 'Create or find an agent version',
        description:
          'Returns 201 for a new version, or 200 if one with the same prompt and configuration exists. Versions are immutable.',
        params: IdParams,
        querystring: NoQuery,
        body: AgentVersionCreate,
        response: answers({ 200: withHeaders(AgentVersion, 'Location'), 201: AgentVersion }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }, reply) => {
      const { systemPrompt, config = {}, label = null } = body
      const { version, made } = await db.transaction().execute(async (trx) => {
        const found = await findOrMakeVersion(trx, actor.org, params.id, { systemPrompt, config, label })
        await recordAudit(trx, actor, 'agent.version', { type: 'agentVersion', id: found.version.id })
        return found
      })
      return reply
        .code(made ? 201 : 200)
        .header('location', `/v1/agents/${version.agentId}/versions/${version.id}`)
        .send(version)
    },
  )

  app.get(
    '/v1/agents/:id/versions/:versionId',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getAgentVersion',
        summary: 'Get an agent version',
        description: 'Includes the full system prompt and configuration.',
        params: VersionParams,
        querystring: NoQuery,
        response: answers({ 200: AgentVersion }, 401, 404),
      },
    },
    ({ actor, params }) => getVersion(db, actor.org, params.id, params.versionId),
  )
}
