import { findCompanyIds } from '../../companies/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { dayMs } from '../../platform/durations.ts'
import { ApiError, notFoundAt } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, PageQuery } from '../../platform/http/schemas.ts'
import { newId } from '../../platform/ids.ts'
import { findBoard } from '../find.ts'
import { countOpenShares, deleteShare, insertShare, listShares } from './queries.ts'
import { BoardShareCreate, BoardSharePage, CreatedBoardShare, ShareParams } from './schema.ts'
import { generateToken, hashToken } from './token.ts'

const tags = ['Analytics']

const defaultDays = 30
const mostShares = 100

export const boardShares = (app: App, { db, clock, baseUrl }: Deps): void => {
  app.get(
    '/v1/boards/:id/shares',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listBoardShares',
        summary: 'List a board’s links',
        description: 'Newest first, including expired ones. The links themselves are only shown when they are created.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: BoardSharePage }, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await findBoard(db, actor, params.id)
      return app.paging.page(
        query,
        ['board-shares', actor.org, id],
        (page) => listShares(db, actor.org, id, page),
        (share) => share.id,
      )
    },
  )

  app.post(
    '/v1/boards/:id/shares',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'createBoardShare',
        summary: 'Create a board link for one company',
        description:
          'Anyone with the link sees the board with only this company’s conversations, until the link expires or is ' +
          'revoked. The names of the board and its charts are shown, but no filters.',
        params: IdParams,
        querystring: NoQuery,
        body: BoardShareCreate,
        response: answers({ 201: CreatedBoardShare }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }, reply) => {
      const board = await findBoard(db, actor, params.id)
      const [companyId] = await findCompanyIds(db, actor.org, [body.companyId])
      if (companyId === undefined) throw notFoundAt(['companyId'])
      const now = clock.now()
      if ((await countOpenShares(db, actor.org, board.id, now)) >= mostShares) {
        throw new ApiError('conflict', `A board can have ${mostShares} links. Revoke one first.`)
      }
      const id = newId()
      const token = generateToken(actor.org, id)
      const share = {
        id,
        boardId: board.id,
        companyId,
        tokenHash: hashToken(token),
        createdByUserId: actor.userId,
        createdAt: now,
        expiresAt: new Date(now.getTime() + (body.expiresInDays ?? defaultDays) * dayMs),
      }
      const created = await db.transaction().execute(async (trx) => {
        const inserted = await insertShare(trx, actor.org, share)
        const targets = [
          { type: 'board', id: board.id },
          { type: 'company', id: companyId },
        ]
        await recordAudit(trx, actor, 'board.share', ...targets)
        return inserted
      })
      const location = `/v1/boards/${board.id}/shares`
      return reply
        .code(201)
        .header('location', location)
        .send({ ...created, url: `${baseUrl()}/shared#${token}` })
    },
  )

  app.delete(
    '/v1/boards/:id/shares/:shareId',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'revokeBoardShare',
        summary: 'Revoke a board link',
        description: 'The link stops working immediately, even on pages that are open.',
        params: ShareParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { companyId } = await deleteShare(trx, actor.org, params.id, params.shareId)
        const targets = [
          { type: 'board', id: params.id.toLowerCase() },
          { type: 'company', id: companyId },
        ]
        await recordAudit(trx, actor, 'board.unshare', ...targets)
      })
      return reply.code(204).send(null)
    },
  )
}
