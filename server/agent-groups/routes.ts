import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { deleteAgentGroup, getAgentGroup, insertAgentGroup, listAgentGroups, updateAgentGroup } from './queries.ts'
import { AgentGroup, AgentGroupCreate, AgentGroupUpdate } from './schema.ts'

const tags = ['Agents']

export const agentGroups = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/agent-groups',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listAgentGroups',
        summary: 'List agent groups',
        description: 'Newest first. To list a group’s agents, filter agents by `groupId`.',
        querystring: PageQuery,
        response: answers({ 200: Page(AgentGroup) }, 401),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['agent-groups', actor.org],
        (page) => listAgentGroups(db, actor.org, page),
        ({ id }) => id,
      ),
  )

  app.post(
    '/v1/agent-groups',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createAgentGroup',
        summary: 'Create an agent group',
        description: 'Names must be unique, ignoring case. To add agents, set their `groupIds`.',
        querystring: NoQuery,
        body: AgentGroupCreate,
        response: answers({ 201: AgentGroup }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const group = await db.transaction().execute(async (trx) => {
        const created = await insertAgentGroup(trx, actor.org, { id: newId(), ...body })
        await recordAudit(trx, actor, 'agentGroup.create', { type: 'agentGroup', id: created.id })
        return created
      })
      return reply.code(201).header('location', `/v1/agent-groups/${group.id}`).send(group)
    },
  )

  app.get(
    '/v1/agent-groups/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getAgentGroup',
        summary: 'Get an agent group',
        description: 'To list its agents, filter agents by `groupId`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: AgentGroup }, 401, 404),
      },
    },
    ({ actor, params }) => getAgentGroup(db, actor.org, params.id),
  )

  app.patch(
    '/v1/agent-groups/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateAgentGroup',
        summary: 'Rename an agent group',
        description: 'Names must be unique, ignoring case.',
        params: IdParams,
        querystring: NoQuery,
        body: AgentGroupUpdate,
        response: answers({ 200: AgentGroup }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const group = await updateAgentGroup(trx, actor.org, params.id, body)
        await recordAudit(trx, actor, 'agentGroup.update', { type: 'agentGroup', id: group.id })
        return group
      }),
  )

  app.delete(
    '/v1/agent-groups/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteAgentGroup',
        summary: 'Delete an agent group',
        description: 'Its agents are kept.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await deleteAgentGroup(trx, actor.org, params.id)
        await recordAudit(trx, actor, 'agentGroup.delete', { type: 'agentGroup', id })
      })
      return reply.code(204).send(null)
    },
  )
}
