import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../platform/http/schemas.ts'
import { listWithFigures, shown } from './list.ts'
import { getTopic, listChanges, listConversations, listTopicIdsOfGroup, updateTopic } from './queries.ts'
import {
  Topic,
  TopicConversationPage,
  TopicConversationQuery,
  TopicDetail,
  TopicList,
  TopicQuery,
  TopicUpdate,
} from './schema.ts'

const tags = ['Topics']

export const topics = (app: App, deps: Deps): void => {
  const { db, database } = deps

  app.get(
    '/v1/topics',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listTopics',
        summary: 'List topics',
        description:
          'Topics are what customers ask for first. Earshot finds them once a day, without a model provider. Related ' +
          'topics have a `groupId`; groups are part of the list. Conversations without words don’t count.',
        querystring: TopicQuery,
        response: answers({ 200: TopicList }, 400, 401),
      },
    },
    ({ actor, query }) => listWithFigures(deps, actor.org, query),
  )

  app.get(
    '/v1/topics/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getTopic',
        summary: 'Get a topic',
        description: 'A topic can still be read for 90 days after it ends.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: TopicDetail }, 401, 404),
      },
    },
    async ({ actor: { org }, params: { id } }) => {
      const topic = await getTopic(db, org, id)
      return { ...shown(topic), history: await listChanges(db, org, id) }
    },
  )

  app.patch(
    '/v1/topics/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateTopic',
        summary: 'Rename or hide a topic',
        description:
          'Omitted fields keep their values. Later builds keep these changes. Hiding a group hides its topics.',
        params: IdParams,
        querystring: NoQuery,
        body: TopicUpdate,
        response: answers({ 200: Topic }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const topic = await updateTopic(trx, actor.org, params.id, body)
        await recordAudit(trx, actor, 'topic.update', { type: 'topic', id: topic.id })
        return shown(topic)
      }),
  )

  app.get(
    '/v1/topics/:id/conversations',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listTopicConversations',
        summary: 'List a topic’s conversations',
        description: 'Most typical first. For a group, lists the conversations of all its topics.',
        params: IdParams,
        querystring: TopicConversationQuery,
        response: answers({ 200: TopicConversationPage }, 400, 401, 404),
      },
    },
    async ({ actor: { org }, params, query }) => {
      const { id, isGroup } = await getTopic(db, org, params.id)
      const ids = isGroup ? await listTopicIdsOfGroup(db, org, id) : [id]
      return app.paging.page(
        query,
        ['topic-conversations', org, id],
        (page) => listConversations(database.dbOf(org), org, ids, page),
        ({ similarity, conversationId }) => `${similarity} ${conversationId}`,
      )
    },
  )
}
