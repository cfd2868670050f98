import { normalizeTags } from '../../filters/tag.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../../platform/http/schemas.ts'
import { changeTags } from './change-tags.ts'
import { mostTags } from './limits.ts'
import { getTags, listKnownTags } from './queries.ts'
import {
  ConversationTags,
  ConversationTagsUpdate,
  mostCounted,
  mostSuggested,
  TagQuery,
  TagSuggestions,
} from './schema.ts'

const tags = ['Conversations']

export const conversationTags = (app: App, deps: Deps): void => {
  const { db, database } = deps

  app.get(
    '/v1/conversation-tags',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listConversationTags',
        summary: 'List known tags',
        description: `The most frequent conversation tags, at most ${mostSuggested}.`,
        querystring: TagQuery,
        response: answers({ 200: TagSuggestions }, 400, 401),
      },
    },
    async ({ actor: { org }, query: { prefix = '' } }) => ({
      data: await listKnownTags(database.dbOf(org), org, {
        prefix: prefix.trimStart().toLowerCase(),
        counted: mostCounted,
        limit: mostSuggested,
      }),
    }),
  )

  app.get(
    '/v1/conversations/:id/tags',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getConversationTags',
        summary: 'Get a conversation’s tags',
        description: 'To read tags for many conversations, search with `include: ["tags"]`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: ConversationTags }, 401, 404),
      },
    },
    async ({ actor, params }) => ({ tags: await getTags(db, actor.org, params.id) }),
  )

  app.put(
    '/v1/conversations/:id/tags',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'putConversationTags',
        summary: 'Set a conversation’s tags',
        description:
          `Replaces all of its tags, at most ${mostTags}. Tags are stored in lowercase. To add or remove tags on many ` +
          'conversations, use a bulk action.',
        params: IdParams,
        querystring: NoQuery,
        body: ConversationTagsUpdate,
        response: answers({ 200: ConversationTags }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const wanted = normalizeTags(body.tags)
        const [changed] = await changeTags(deps, trx, actor.org, [params.id.toLowerCase()], () => wanted)
        if (!changed) throw notFound()
        await recordAudit(trx, actor, 'conversation.tag', { type: 'conversation', id: changed.conversationId })
        return { tags: await getTags(trx, actor.org, params.id) }
      }),
  )
}
