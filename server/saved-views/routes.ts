import { explainFilter } from '../filters/explain.ts'
import { parseFilter } from '../filters/filter.ts'
import { findNames } from '../filters/names/queries.ts'
import type { Selection } from '../filters/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { deleteSavedView, getSavedView, insertSavedView, listSavedViews, updateSavedView } from './queries.ts'
import { SavedView, SavedViewCreate, SavedViewUpdate } from './schema.ts'

const tags = ['Conversations']

/** Describes a view with the current names of its resources. */
const explain = async <V extends { filter: Selection }>(db: Db, org: OrgId, view: V) => {
  const names = await findNames(db, org, [view.filter])
  return { ...view, explanation: explainFilter(view.filter, names) }
}

export const savedViews = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/saved-views',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listSavedViews',
        summary: 'List saved views',
        description: 'Newest first. Saved views are shared with the whole organization.',
        querystring: PageQuery,
        response: answers({ 200: Page(SavedView) }, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['saved-views', actor.org],
        (page) => listSavedViews(db, actor.org, page),
        ({ id }) => id,
      )
      const names = await findNames(
        db,
        actor.org,
        data.map(({ filter }) => filter),
      )
      return { data: data.map((view) => ({ ...view, explanation: explainFilter(view.filter, names) })), nextCursor }
    },
  )

  app.get(
    '/v1/saved-views/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getSavedView',
        summary: 'Get a saved view',
        description: 'Includes a description of its filter in words.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: SavedView }, 401, 404),
      },
    },
    async ({ actor, params }) => {
      const view = await getSavedView(db, actor.org, params.id)
      return { ...view, explanation: explainFilter(view.filter, await findNames(db, actor.org, [view.filter])) }
    },
  )

  app.post(
    '/v1/saved-views',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createSavedView',
        summary: 'Create a saved view',
        description: 'Shared with the whole organization. Returns 409 if the name is taken.',
        querystring: NoQuery,
        body: SavedViewCreate,
        response: answers({ 201: SavedView }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const filter = parseFilter(body.filter, 'filter')
      const view = await db.transaction().execute(async (trx) => {
        const created = await insertSavedView(trx, actor.org, {
          id: newId(),
          name: body.name,
          filter,
          createdByUserId: actor.userId,
        })
        await recordAudit(trx, actor, 'savedView.create', { type: 'savedView', id: created.id })
        return created
      })
      return reply
        .code(201)
        .header('location', `/v1/saved-views/${view.id}`)
        .send(await explain(db, actor.org, view))
    },
  )

  app.patch(
    '/v1/saved-views/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateSavedView',
        summary: 'Update a saved view’s name or filter',
        description: 'Omitted fields keep their values. Returns 409 if the name is taken.',
        params: IdParams,
        querystring: NoQuery,
        body: SavedViewUpdate,
        response: answers({ 200: SavedView }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body: { name, filter } }) => {
      const change = {
        ...(name !== undefined && { name }),
        ...(filter !== undefined && { filter: parseFilter(filter, 'filter') }),
      }
      const view = await db.transaction().execute(async (trx) => {
        const updated = await updateSavedView(trx, actor.org, params.id, change)
        await recordAudit(trx, actor, 'savedView.update', { type: 'savedView', id: updated.id })
        return updated
      })
      return explain(db, actor.org, view)
    },
  )

  app.delete(
    '/v1/saved-views/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteSavedView',
        summary: 'Delete a saved view',
        description: 'Conversations are not affected.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await deleteSavedView(trx, actor.org, params.id)
        await recordAudit(trx, actor, 'savedView.delete', { type: 'savedView', id })
      })
      return reply.code(204).send(null)
    },
  )
}
