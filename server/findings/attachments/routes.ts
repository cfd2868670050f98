import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, notFound, notFoundAt } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../../platform/http/schemas.ts'
import { mostAttached } from '../limits.ts'
import { lockUnmergedFinding } from '../lock.ts'
import { getFinding } from '../queries.ts'
import { attachConversations, countAttached, detachConversation, findAttached, listAttached } from './queries.ts'
import { AttachedConversation, AttachmentParams, FindingAttach, FindingConversation } from './schema.ts'

const tags = ['Findings']

const targetsOf = (findingId: string, conversationId: string) =>
  [
    { type: 'finding', id: findingId },
    { type: 'conversation', id: conversationId },
  ] as const

export const findingConversations = (app: App, { db, clock }: Deps): void => {
  app.get(
    '/v1/findings/:id/conversations',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listFindingConversations',
        summary: 'List a finding’s conversations',
        description: 'Latest attached first, including conversations of merged findings.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(AttachedConversation) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getFinding(db, actor.org, params.id)
      return app.paging.page(
        query,
        ['finding-conversations', actor.org, id],
        (page) => listAttached(db, actor.org, id, page),
        ({ conversationId }) => conversationId,
      )
    },
  )

  app.post(
    '/v1/findings/:id/conversations',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'attachConversation',
        summary: 'Attach a conversation to a finding',
        description:
          'Returns 201, or 200 if the conversation was already attached. Returns 409 if the finding was merged into ' +
          'another or already has 10,000 conversations.',
        params: IdParams,
        querystring: NoQuery,
        body: FindingAttach,
        response: answers({ 200: FindingConversation, 201: FindingConversation }, 400, 401, 404),
      },
    },
    async ({ actor, params, body: { conversationId } }, reply) => {
      const attachment = await db.transaction().execute(async (trx) => {
        const { id } = await lockUnmergedFinding(trx, actor.org, params.id).catch((error: unknown) => {
          throw error instanceof ApiError && error.kind === 'notFound' ? notFoundAt(['id']) : error
        })
        const before = await findAttached(trx, actor.org, id, conversationId)
        if (!before) {
          if ((await countAttached(trx, actor.org, id)) >= mostAttached) {
            throw new ApiError('conflict', `A finding can have at most ${mostAttached} conversations.`)
          }
          await attachConversations(trx, actor.org, id, [conversationId], clock.now())
        }
        const attached = before ?? (await findAttached(trx, actor.org, id, conversationId))
        if (!attached) throw notFoundAt(['conversationId'])
        await recordAudit(trx, actor, 'finding.attach', ...targetsOf(id, attached.conversationId))
        return { ...attached, alreadyExisted: before !== undefined }
      })
      if (attachment.alreadyExisted) return reply.code(200).send(attachment)
      const location = `/v1/findings/${attachment.findingId}/conversations/${attachment.conversationId}`
      return reply.code(201).header('location', location).send(attachment)
    },
  )

  app.get(
    '/v1/findings/:id/conversations/:conversationId',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getFindingConversation',
        summary: 'Get a finding’s conversation',
        description: 'Returns 404 if the conversation is not attached.',
        params: AttachmentParams,
        querystring: NoQuery,
        response: answers({ 200: FindingConversation }, 401, 404),
      },
    },
    async ({ actor, params }) => {
      const attached = await findAttached(db, actor.org, params.id, params.conversationId)
      if (!attached) throw notFound()
      return { ...attached, alreadyExisted: true }
    },
  )

  app.delete(
    '/v1/findings/:id/conversations/:conversationId',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'detachConversation',
        summary: 'Detach a conversation from a finding',
        description: 'The conversation itself is kept. Returns 409 if the finding was merged into another.',
        params: AttachmentParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await lockUnmergedFinding(trx, actor.org, params.id)
        if (!(await detachConversation(trx, actor.org, id, params.conversationId))) throw notFound()
        await recordAudit(trx, actor, 'finding.detach', ...targetsOf(id, params.conversationId.toLowerCase()))
      })
      return reply.code(204).send(null)
    },
  )
}
