import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../../platform/http/schemas.ts'
import { hasRole } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import { checkRichText } from '../../rich-text/check.ts'
import { mentionedUserIds } from '../../rich-text/mentions.ts'
import { plainText } from '../../rich-text/plain-text.ts'
import { mostComments } from '../limits.ts'
import { lockUnmergedFinding } from '../lock.ts'
import { getFinding, listIdsWithMerged } from '../queries.ts'
import {
  countComments,
  deleteComment,
  getComment,
  insertComment,
  listComments,
  lockComment,
  updateComment,
} from './queries.ts'
import { CommentParams, FindingComment, FindingCommentWrite } from './schema.ts'

const tags = ['Findings']

const checkBody = (body: object) => {
  const document = checkRichText(body, 'body')
  if (plainText(document) === '') throw invalid('body', 'must contain text')
  return document
}

const targetsOf = (findingId: string, id: string) =>
  [
    { type: 'findingComment', id },
    { type: 'finding', id: findingId },
  ] as const

export const findingComments = (app: App, { db, clock, reactions }: Deps): void => {
  app.get(
    '/v1/findings/:id/comments',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listFindingComments',
        summary: 'List a finding’s comments',
        description: 'Oldest first, including comments on merged findings.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(FindingComment) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getFinding(db, actor.org, params.id)
      const findingIds = await listIdsWithMerged(db, actor.org, id)
      return app.paging.page(
        query,
        ['finding-comments', actor.org, id],
        (page) => listComments(db, actor.org, findingIds, page),
        (comment) => comment.id,
      )
    },
  )

  app.post(
    '/v1/findings/:id/comments',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createFindingComment',
        summary: 'Comment on a finding',
        description: 'A finding can have at most 1,000 comments.',
        params: IdParams,
        querystring: NoQuery,
        body: FindingCommentWrite,
        response: answers({ 201: FindingComment }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body: { body: given } }, reply) => {
      const body = checkBody(given)
      const comment = await db.transaction().execute(async (trx) => {
        const { id: findingId } = await lockUnmergedFinding(trx, actor.org, params.id)
        if ((await countComments(trx, actor.org, findingId)) >= mostComments) {
          throw new ApiError('conflict', `A finding can have at most ${mostComments} comments.`)
        }
        const now = clock.now()
        const created = await insertComment(trx, actor.org, {
          id: newId(),
          findingId,
          authorUserId: actor.userId,
          body,
          now,
        })
        await reactions.peopleMentioned(trx, actor.org, {
          commentId: created.id,
          on: { type: 'finding', id: findingId },
          userIds: mentionedUserIds(body),
          byUserId: actor.userId,
        })
        await recordAudit(trx, actor, 'findingComment.create', ...targetsOf(findingId, created.id))
        return created
      })
      return reply
        .code(201)
        .header('location', `/v1/findings/${comment.findingId}/comments/${comment.id}`)
        .send(comment)
    },
  )

  app.get(
    '/v1/findings/:id/comments/:commentId',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getFindingComment',
        summary: 'Get a comment',
        description: 'Use the ID of the finding the comment was written on.',
        params: CommentParams,
        querystring: NoQuery,
        response: answers({ 200: FindingComment }, 401, 404),
      },
    },
    ({ actor, params }) => getComment(db, actor.org, params.id, params.commentId),
  )

  app.patch(
    '/v1/findings/:id/comments/:commentId',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateFindingComment',
        summary: 'Edit a comment',
        description: 'Only the author can edit a comment; others get 403.',
        params: CommentParams,
        querystring: NoQuery,
        body: FindingCommentWrite,
        response: answers({ 200: FindingComment }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body: { body: given } }) => {
      const body = checkBody(given)
      return db.transaction().execute(async (trx) => {
        const findingIds = await listIdsWithMerged(trx, actor.org, params.id)
        const { id, authorUserId } = await lockComment(trx, actor.org, findingIds, params.commentId)
        if (authorUserId !== actor.userId) throw new ApiError('forbidden', 'Only the author can edit a comment.')
        const comment = await updateComment(trx, actor.org, id, { body, now: clock.now() })
        await reactions.peopleMentioned(trx, actor.org, {
          commentId: id,
          on: { type: 'finding', id: comment.findingId },
          userIds: mentionedUserIds(body),
          byUserId: actor.userId,
        })
        await recordAudit(trx, actor, 'findingComment.update', ...targetsOf(comment.findingId, id))
        return comment
      })
    },
  )

  app.delete(
    '/v1/findings/:id/comments/:commentId',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteFindingComment',
        summary: 'Delete a comment',
        description: 'Authors can delete their own comments, and admins can delete any; others get 403.',
        params: CommentParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const findingIds = await listIdsWithMerged(trx, actor.org, params.id)
        const { id, findingId, authorUserId } = await lockComment(trx, actor.org, findingIds, params.commentId)
        if (authorUserId !== actor.userId && !hasRole(actor.role, 'admin')) {
          throw new ApiError('forbidden', 'Only the author or an admin can delete a comment.')
        }
        await deleteComment(trx, actor.org, id)
        await recordAudit(trx, actor, 'findingComment.delete', ...targetsOf(findingId, id))
      })
      return reply.code(204).send(null)
    },
  )
}
