import { parseFilter } from '../filters/filter.ts'
import type { Selection } from '../filters/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { isBuiltIn } from './built-in.ts'
import { checkCharts } from './check-charts.ts'
import { findBoard, listBuiltIn, shown } from './find.ts'
import { deleteBoard, insertBoard, listBoards, updateBoard } from './queries.ts'
import { Board, BoardCreate, BoardDuplicate, BoardPage, BoardUpdate } from './schema.ts'
import { deleteSharesOf } from './shares/queries.ts'

const tags = ['Analytics']

const defaultFilter: Selection = { period: { last: '30d', timezone: 'UTC' } }

const refuseBuiltIn = (id: string): void => {
  if (isBuiltIn(id)) throw new ApiError('conflict', 'This board belongs to Earshot. Duplicate it to change the copy.')
}

const longestName = 255

export const boards = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/boards',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listBoards',
        summary: 'List boards',
        description: 'Newest first. Boards are shared with the whole organization.',
        querystring: PageQuery,
        response: answers({ 200: BoardPage }, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['boards', actor.org],
        (page) => listBoards(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: data.map(shown), nextCursor, builtIn: await listBuiltIn(db, actor) }
    },
  )

  app.get(
    '/v1/boards/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getBoard',
        summary: 'Get a board',
        description: 'Charts contain queries. Send each to `POST /v1/analytics/query` with the board’s filter.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Board }, 401, 404),
      },
    },
    ({ actor, params }) => findBoard(db, actor, params.id),
  )

  app.post(
    '/v1/boards',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createBoard',
        summary: 'Create a board',
        description: 'Boards are shared with the whole organization.',
        querystring: NoQuery,
        body: BoardCreate,
        response: answers({ 201: Board }, 400, 401, 403),
      },
    },
    async ({ actor, body }, reply) => {
      const board = {
        id: newId(),
        name: body.name,
        description: body.description ?? null,
        filter: body.filter ? parseFilter(body.filter, 'filter') : defaultFilter,
        compareTo: body.compareTo ?? null,
        charts: await checkCharts(db, actor.org, body.charts ?? []),
        createdByUserId: actor.userId,
      }
      const created = await db.transaction().execute(async (trx) => {
        const inserted = await insertBoard(trx, actor.org, board)
        await recordAudit(trx, actor, 'board.create', { type: 'board', id: inserted.id })
        return inserted
      })
      return reply.code(201).header('location', `/v1/boards/${created.id}`).send(shown(created))
    },
  )

  app.patch(
    '/v1/boards/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateBoard',
        summary: 'Update a board',
        description: 'Omitted fields keep their values. Returns 409 for a built-in board.',
        params: IdParams,
        querystring: NoQuery,
        body: BoardUpdate,
        response: answers({ 200: Board }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body: { filter, charts, ...fields } }) => {
      refuseBuiltIn(params.id)
      const change = {
        ...fields,
        ...(filter !== undefined && { filter: parseFilter(filter, 'filter') }),
        ...(charts !== undefined && { charts: await checkCharts(db, actor.org, charts) }),
      }
      const board = await db.transaction().execute(async (trx) => {
        const updated = await updateBoard(trx, actor.org, params.id, change)
        await recordAudit(trx, actor, 'board.update', { type: 'board', id: updated.id })
        return updated
      })
      return shown(board)
    },
  )

  app.delete(
    '/v1/boards/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteBoard',
        summary: 'Delete a board',
        description: 'Board links stop working. Conversations are not affected. Returns 409 for a built-in board.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      refuseBuiltIn(params.id)
      await db.transaction().execute(async (trx) => {
        const { id } = await deleteBoard(trx, actor.org, params.id)
        await deleteSharesOf(trx, actor.org, id)
        await recordAudit(trx, actor, 'board.delete', { type: 'board', id })
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/boards/:id/duplicate',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'duplicateBoard',
        summary: 'Duplicate a board',
        description: 'The copy of a built-in board can be changed.',
        params: IdParams,
        querystring: NoQuery,
        body: BoardDuplicate,
        response: answers({ 201: Board }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, body }, reply) => {
      const { description, filter, compareTo, name, charts } = await findBoard(db, actor, params.id)
      const copy = {
        id: newId(),
        name: body.name ?? `${name} copy`.slice(0, longestName),
        description,
        filter,
        compareTo,
        charts: charts.map((chart) => ({ ...chart, id: newId() })),
        createdByUserId: actor.userId,
      }
      const created = await db.transaction().execute(async (trx) => {
        const inserted = await insertBoard(trx, actor.org, copy)
        await recordAudit(trx, actor, 'board.create', { type: 'board', id: inserted.id })
        return inserted
      })
      return reply.code(201).header('location', `/v1/boards/${created.id}`).send(shown(created))
    },
  )
}
