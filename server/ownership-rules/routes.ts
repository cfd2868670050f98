import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import {
  deleteOwnershipRule,
  getOwnershipRule,
  insertOwnershipRule,
  listOwnershipRules,
  lockOwnershipRules,
  shiftPositions,
  updateOwnershipRule,
} from './queries.ts'
import { OwnershipRule, OwnershipRuleCreate, OwnershipRuleUpdate } from './schema.ts'
import { checkOwnership, withGiven } from './settings.ts'

const tags = ['Alerts']
const mostRules = 100

const target = (id: string) => ({ type: 'ownershipRule', id })

/** Makes space at the new position, and closes the gap at the old one. */
const movePosition = async (trx: Db, org: OrgId, from: number, to: number): Promise<void> => {
  if (to < from) await shiftPositions(trx, org, { from: to, to: from - 1, by: 1 })
  if (to > from) await shiftPositions(trx, org, { from: from + 1, to, by: -1 })
}

export const ownershipRules = (app: App, { db, clock }: Deps): void => {
  app.get(
    '/v1/ownership-rules',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listOwnershipRules',
        summary: 'List ownership rules',
        description:
          'Sorted by position. The first rule that matches a new finding or incident decides who is in charge of it.',
        querystring: PageQuery,
        response: answers({ 200: Page(OwnershipRule) }, 401),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['ownership-rules', actor.org],
        (page) => listOwnershipRules(db, actor.org, page),
        ({ position }) => String(position),
      ),
  )

  app.post(
    '/v1/ownership-rules',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createOwnershipRule',
        summary: 'Create an ownership rule',
        description:
          'Findings created without an assignee are assigned to the rule’s owner. If an incident’s alert rule has ' +
          'no owner, the incident gets this rule’s owner and is also sent to its destinations. Without `position`, ' +
          'the new rule is the last one. Limit: 100 rules.',
        querystring: NoQuery,
        body: OwnershipRuleCreate,
        response: answers({ 201: OwnershipRule }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const id = newId()
      const rule = await db.transaction().execute(async (trx) => {
        const count = await lockOwnershipRules(trx, actor.org)
        const position = Math.min(body.position ?? count + 1, count + 1)
        const empty = { agentIds: [], companyIds: [], tags: [], ownerUserId: null, destinationIds: [] }
        const fields = withGiven({ ...empty, name: body.name, position }, body)
        await checkOwnership(trx, actor.org, fields, body)
        if (count >= mostRules) {
          throw new ApiError('conflict', `An organization can have ${mostRules} ownership rules. Delete one first.`)
        }
        await shiftPositions(trx, actor.org, { from: position, to: count, by: 1 })
        const created = await insertOwnershipRule(trx, actor.org, { id, ...fields, now: clock.now() })
        await recordAudit(trx, actor, 'ownershipRule.create', target(id))
        return created
      })
      return reply.code(201).header('location', `/v1/ownership-rules/${id}`).send(rule)
    },
  )

  app.get(
    '/v1/ownership-rules/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getOwnershipRule',
        summary: 'Get an ownership rule',
        description: '`ownerUserId` is null if the owner has left the organization.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: OwnershipRule }, 401, 404),
      },
    },
    ({ actor, params }) => getOwnershipRule(db, actor.org, params.id),
  )

  app.patch(
    '/v1/ownership-rules/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateOwnershipRule',
        summary: 'Update an ownership rule',
        description: 'Omitted fields keep their values. A new `position` also moves the rules in between.',
        params: IdParams,
        querystring: NoQuery,
        body: OwnershipRuleUpdate,
        response: answers({ 200: OwnershipRule }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const count = await lockOwnershipRules(trx, actor.org)
        const stored = await getOwnershipRule(trx, actor.org, params.id)
        const position = Math.min(body.position ?? stored.position, count)
        const fields = withGiven({ ...stored, position }, body)
        await checkOwnership(trx, actor.org, fields, body)
        await movePosition(trx, actor.org, stored.position, position)
        const updated = await updateOwnershipRule(trx, actor.org, stored.id, fields, clock.now())
        await recordAudit(trx, actor, 'ownershipRule.update', target(stored.id))
        return updated
      }),
  )

  app.delete(
    '/v1/ownership-rules/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteOwnershipRule',
        summary: 'Delete an ownership rule',
        description: 'Existing findings and incidents keep their owners.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const count = await lockOwnershipRules(trx, actor.org)
        const { id, position } = await getOwnershipRule(trx, actor.org, params.id)
        await deleteOwnershipRule(trx, actor.org, id)
        await shiftPositions(trx, actor.org, { from: position + 1, to: count, by: -1 })
        await recordAudit(trx, actor, 'ownershipRule.delete', target(id))
      })
      return reply.code(204).send(null)
    },
  )
}
