import type { Static } from 'typebox'
import { parseFilter } from '../filters/filter.ts'
import type { Selection } from '../filters/queries.ts'
import { resolve } from '../filters/resolve.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid, invalidAll } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery, withHeaders } from '../platform/http/schemas.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'
import { actionOf, kindOf, parseAction } from './kinds/kinds.ts'
import { cancelAction, canUndo, createAction, undoAction } from './lifecycle.ts'
import { keptDays, mostConversations, mostIds } from './limits.ts'
import { getAction, listActions, listPresent, listSelectedIds, type StoredAction } from './queries.ts'
import { type Action, BulkAction, BulkActionCreate } from './schema.ts'

const tags = ['Conversations']

const shown = (stored: StoredAction) => {
  const { afterPosition: _, createdByKeyId: __, ...rest } = stored
  const action = actionOf(stored)
  return {
    ...rest,
    action,
    failure: stored.failure ?? (stored.failed > 0 ? (kindOf(action).reason ?? null) : null),
    canUndo: canUndo(stored),
  }
}

const requireActionRole = ({ role }: Actor, action: Action): void => {
  const { role: needed } = kindOf(action)
  if (hasRole(role, needed)) return
  throw new ApiError('forbidden', `This action requires the role ${needed} or higher, but your role is ${role}.`)
}

type Request = Static<typeof BulkActionCreate>
type Selected = { filter: Selection | null; ids: string[] }

const selectByIds = async (db: Db, org: OrgId, given: string[]): Promise<Selected> => {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  const present = new Set(await listPresent(db, org, ids))
  const issues = given.flatMap((id, index) =>
    present.has(id.toLowerCase())
      ? []
      : [{ path: `ids[${index}]`, message: 'must be a conversation of this organization' }],
  )
  if (issues.length > 0) throw invalidAll(issues)
  return { filter: null, ids }
}

const selectByFilter = async (deps: Deps, org: OrgId, given: NonNullable<Request['filter']>): Promise<Selected> => {
  const filter = parseFilter(given, 'filter')
  const ids = await listSelectedIds(deps.db, org, await resolve(deps, org, filter), mostConversations + 1)
  if (ids.length === 0) throw invalid('filter', 'matches no conversations')
  if (ids.length > mostConversations) {
    const most = mostConversations.toLocaleString('en')
    throw invalid('filter', `matches more than ${most} conversations; narrow it and run several actions`)
  }
  return { filter, ids }
}

const select = (deps: Deps, org: OrgId, { filter, ids }: Request): Promise<Selected> => {
  if (filter && !ids) return selectByFilter(deps, org, filter)
  if (ids && !filter) return selectByIds(deps.db, org, ids)
  throw invalid('filter', 'or ids is required, but not both')
}

export const bulkActions = (app: App, deps: Deps): void => {
  const { db } = deps

  app.get(
    '/v1/conversations/bulk',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listBulkActions',
        summary: 'List bulk actions',
        description: `Newest first. Finished actions are kept for ${keptDays} days.`,
        querystring: PageQuery,
        response: answers({ 200: Page(BulkAction) }, 400, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['bulk-actions', actor.org],
        (page) => listActions(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: data.map(shown), nextCursor }
    },
  )

  app.post(
    '/v1/conversations/bulk',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createBulkAction',
        summary: 'Act on many conversations',
        description:
          `Changes the conversations that match a filter (at most ${mostConversations.toLocaleString('en')}) or ` +
          `a list of IDs (at most ${mostIds.toLocaleString('en')}) in the background. The selection is fixed now: conversations ` +
          'that match later are not included. To export conversations or run a monitor on them, create an export or a ' +
          'run of the monitor instead.',
        querystring: NoQuery,
        body: BulkActionCreate,
        response: answers({ 202: withHeaders(BulkAction, 'Location') }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const action = parseAction(body.action)
      requireActionRole(actor, action)
      await kindOf(action).check(db, actor.org, action)
      const selected = await select(deps, actor.org, body)
      const { length: total } = selected.ids
      if (body.expectedTotal !== undefined && body.expectedTotal !== total) {
        throw new ApiError(
          'conflict',
          `${total.toLocaleString('en')} conversations are selected, but you expected ${body.expectedTotal.toLocaleString('en')}. Check the filter.`,
        )
      }
      const stored = await createAction(deps, actor, { action, ...selected })
      return reply.code(202).header('location', `/v1/conversations/bulk/${stored.id}`).send(shown(stored))
    },
  )

  app.get(
    '/v1/conversations/bulk/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getBulkAction',
        summary: 'Get a bulk action',
        description: 'Poll it until `finishedAt` is set, or follow `bulk-actions` in the stream of changes.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: BulkAction }, 401, 404),
      },
    },
    async ({ actor, params }) => shown(await getAction(db, actor.org, params.id)),
  )

  app.post(
    '/v1/conversations/bulk/:id/cancel',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'cancelBulkAction',
        summary: 'Cancel a bulk action',
        description:
          'Keeps the changes made so far, which can be undone. Returns 409 if the action is not in progress.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: BulkAction }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }) => shown(await cancelAction(deps, actor, params.id)),
  )

  app.post(
    '/v1/conversations/bulk/:id/undo',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'undoBulkAction',
        summary: 'Undo a bulk action',
        description:
          'Starts another action that reverts only what this one changed. If a review has been started, its ' +
          'conversation stays in the bucket and the review stays assigned. Returns 409 unless `canUndo` is true.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: withHeaders(BulkAction, 'Location') }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await undoAction(deps, actor, params.id.toLowerCase())
      return reply.code(202).header('location', `/v1/conversations/bulk/${stored.id}`).send(shown(stored))
    },
  )
}
