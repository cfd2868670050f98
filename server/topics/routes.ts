import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../platform/http/schemas.ts'
import { draftMonitor } from './draft.ts'
import { listUncovered, listWithFigures, shown } from './list.ts'
import { mergeTopic } from './merge.ts'
import { getTopic, listChanges, listConversations, listMergedInto, listTopicIdsWithin, updateTopic } from './queries.ts'
import { readFacets } from './requests.ts'
import {
  PeriodQuery,
  Topic,
  TopicConversationPage,
  TopicConversationQuery,
  TopicDetail,
  TopicList,
  TopicMerge,
  TopicMonitor,
  TopicMonitorDraft,
  TopicQuery,
  TopicUpdate,
  UncoveredTopics,
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
    '/v1/topics/uncovered',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listUncoveredTopics',
        summary: 'List topics without a monitor',
        description: 'The topics that no enabled monitor covers, and their share of all conversations.',
        querystring: PeriodQuery,
        response: answers({ 200: UncoveredTopics }, 400, 401),
      },
    },
    ({ actor, query }) => listUncovered(deps, actor.org, query),
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
      const merged = (await listMergedInto(db, org, id)).map(shown)
      return { ...shown(topic), merged, history: await listChanges(db, org, id) }
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

  app.post(
    '/v1/topics/:id/merge',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'mergeTopic',
        summary: 'Merge a topic into another',
        description:
          'The other topic represents both, also in filters and after later builds. Topics that were merged into the ' +
          'first one move with it. Returns 409 for groups, for topics that ended, and if the other topic was itself merged.',
        params: IdParams,
        querystring: NoQuery,
        body: TopicMerge,
        response: answers({ 200: Topic }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const ids = await mergeTopic(trx, actor.org, params.id, body.into)
        const targets = ids.map((id) => ({ type: 'topic', id }))
        await recordAudit(trx, actor, body.into === null ? 'topic.separate' : 'topic.merge', ...targets)
        return shown(await getTopic(trx, actor.org, params.id))
      }),
  )

  app.post(
    '/v1/topics/:id/monitor',
    {
      config: { access: { role: 'member', entitlement: 'monitors' }, unaudited: 'It only reads.' },
      schema: {
        tags,
        operationId: 'draftTopicMonitor',
        summary: 'Draft a monitor from a topic',
        description:
          'Returns a judge or a rule that finds the topic’s conversations, with examples to test it on. Saves nothing: ' +
          'test it with `POST /v1/monitors/test`, and create it with `POST /v1/monitors`.',
        params: IdParams,
        querystring: NoQuery,
        body: TopicMonitor,
        response: answers({ 200: TopicMonitorDraft }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) => draftMonitor(deps, actor.org, params.id, body.kind),
  )

  app.get(
    '/v1/topics/:id/conversations',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listTopicConversations',
        summary: 'List a topic’s conversations',
        description:
          'Most typical first. Includes the conversations of merged topics or, for a group, of all its topics.',
        params: IdParams,
        querystring: TopicConversationQuery,
        response: answers({ 200: TopicConversationPage }, 400, 401, 404),
      },
    },
    async ({ actor: { org }, params, query }) => {
      const { id } = await getTopic(db, org, params.id)
      const ids = await listTopicIdsWithin(db, org, id)
      const { data, nextCursor } = await app.paging.page(
        query,
        ['topic-conversations', org, id],
        (page) => listConversations(database.dbOf(org), org, ids, page),
        ({ similarity, conversationId }) => `${similarity} ${conversationId}`,
      )
      if (!query.facets) return { data, nextCursor }
      const conversationIds = data.map(({ conversationId }) => conversationId)
      const facets = await readFacets(deps, org, conversationIds)
      return { data: data.map((row) => ({ ...row, facets: facets.get(row.conversationId) ?? null })), nextCursor }
    },
  )
}
