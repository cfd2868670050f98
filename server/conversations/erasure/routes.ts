import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery } from '../../platform/http/schemas.ts'
import { eraseConversations } from './erase.ts'

export const erasure = (app: App, deps: Deps): void => {
  app.delete(
    '/v1/conversations/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Conversations'],
        operationId: 'eraseConversation',
        summary: 'Erase a conversation',
        description:
          'Also erases its transcript, recording, metrics, results, and deliveries. A hash of its `externalId` ' +
          'is kept so that late data is dropped.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await deps.db.transaction().execute(async (trx) => {
        const erased = await eraseConversations(deps, trx, actor.org, [params.id])
        if (erased.length === 0) throw notFound()
        await recordAudit(trx, actor, 'conversation.erase', { type: 'conversation', id: params.id })
      })
      return reply.code(204).send(null)
    },
  )
}
