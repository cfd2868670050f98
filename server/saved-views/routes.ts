import type { Static } from 'typebox'
import { explainFilter } from '../filters/explain.ts'
import { parseFilter } from '../filters/filter.ts'
import { findNames } from '../filters/names/queries.ts'
import type { Selection } from '../filters/queries.ts'
import { parseSort, type Sort } from '../filters/sort.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { parseColumns } from './columns.ts'
import {
  clearDefaultOfOthers,
  clearDefaultView,
  deleteSavedView,
  getSavedView,
  insertSavedView,
  listSavedViews,
  lockSavedView,
  setDefaultView,
  updateSavedView,
  type ViewChange,
} from './queries.ts'
import { SavedView, SavedViewCreate, SavedViewUpdate } from './schema.ts'

const tags = ['Conversations']

/** Describes a view with the current names of its resources. */
const explain = async <V extends { filter: Selection }>(db: Db, org: OrgId, view: V) => {
  const names = await findNames(db, org, [view.filter])
  return { ...view, explanation: explainFilter(view.filter, names) }
}

/** Returns a sort in canonical form. */
const readSort = (sort: Sort): { by: string; direction: 'asc' | 'desc' } => {
  const { key, direction } = parseSort(sort, 'sort')
  return { by: key.kind === 'score' ? `score:${key.monitorId}` : sort.by, direction }
}

/** Throws if the view sorts by similarity without a meaning. Updates can change the filter and the sort separately. */
const requireSortable = <V extends { filter: Selection; sort: Sort | null }>(view: V): V => {
  if (view.sort) parseSort(view.sort, 'sort', view.filter)
  return view
}

type Body = Partial<Static<typeof SavedViewCreate>>

const readChange = ({ name, filter, columns, sort, shared }: Body): ViewChange => ({
  ...(name !== undefined && { name }),
  ...(filter !== undefined && { filter: parseFilter(filter, 'filter') }),
  ...(columns !== undefined && { columns: columns && parseColumns(columns, 'columns') }),
  ...(sort !== undefined && { sort: sort && readSort(sort) }),
  ...(shared !== undefined && { shared }),
})

const changeDefault = async (
  trx: Db,
  org: OrgId,
  userId: string,
  id: string,
  isDefault: boolean | undefined,
): Promise<void> => {
  if (isDefault === undefined) return
  if (isDefault) await setDefaultView(trx, org, userId, id)
  else await clearDefaultView(trx, org, userId, id)
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
        description: 'Newest first. Includes shared views and your personal ones.',
        querystring: PageQuery,
        response: answers({ 200: Page(SavedView) }, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['saved-views', actor.org, actor.userId],
        (page) => listSavedViews(db, actor.org, actor.userId, page),
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
      const view = await getSavedView(db, actor.org, actor.userId, params.id)
      return explain(db, actor.org, view)
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
        description:
          'Shared with your organization unless `shared` is false. Returns 409 if another shared view, or one of ' +
          'your personal views, already has this name.',
        querystring: NoQuery,
        body: SavedViewCreate,
        response: answers({ 201: SavedView }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const id = newId()
      const { name, filter, isDefault, shared = true } = body
      const { columns = null, sort = null } = readChange(body)
      const created = { id, name, filter: parseFilter(filter, 'filter'), columns, sort, shared }
      const view = await db.transaction().execute(async (trx) => {
        await insertSavedView(trx, actor.org, actor.userId, created)
        await changeDefault(trx, actor.org, actor.userId, id, isDefault)
        await recordAudit(trx, actor, 'savedView.create', { type: 'savedView', id })
        return requireSortable(await getSavedView(trx, actor.org, actor.userId, id))
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
        summary: 'Update a saved view',
        description: 'Omitted fields keep their values. Returns 409 if the name is taken.',
        params: IdParams,
        querystring: NoQuery,
        body: SavedViewUpdate,
        response: answers({ 200: SavedView }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }) => {
      const change = readChange(body)
      const view = await db.transaction().execute(async (trx) => {
        const { shared, createdByUserId } = await lockSavedView(trx, actor.org, actor.userId, params.id)
        const becomesPersonal = shared && change.shared === false
        if (becomesPersonal && createdByUserId !== actor.userId) {
          throw new ApiError('forbidden', 'Only the person who created this view can make it personal.')
        }
        if (Object.keys(change).length > 0) await updateSavedView(trx, actor.org, params.id, change)
        if (becomesPersonal) await clearDefaultOfOthers(trx, actor.org, actor.userId, params.id)
        await changeDefault(trx, actor.org, actor.userId, params.id, body.isDefault)
        await recordAudit(trx, actor, 'savedView.update', { type: 'savedView', id: params.id.toLowerCase() })
        return requireSortable(await getSavedView(trx, actor.org, actor.userId, params.id))
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
        const { id } = await deleteSavedView(trx, actor.org, actor.userId, params.id)
        await recordAudit(trx, actor, 'savedView.delete', { type: 'savedView', id })
      })
      return reply.code(204).send(null)
    },
  )
}
