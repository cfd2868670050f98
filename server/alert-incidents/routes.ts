import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { checkRichText } from '../rich-text/check.ts'
import { mentionedUserIds } from '../rich-text/mentions.ts'
import { plainText } from '../rich-text/plain-text.ts'
import { acknowledgeIncident, resolveIncident } from './lifecycle.ts'
import { presentIncident, presentWithTimeline } from './present.ts'
import {
  countIncidentComments,
  getIncident,
  getIncidentComment,
  insertIncidentEvent,
  listIncidentComments,
  listIncidents,
  lockIncident,
} from './queries.ts'
import {
  Incident,
  IncidentComment,
  IncidentCommentParams,
  IncidentCommentWrite,
  IncidentQuery,
  IncidentWithTimeline,
} from './schema.ts'

const tags = ['Alerts']
const mostComments = 1_000

const target = (id: string) => ({ type: 'alertIncident', id })

export const alertIncidents = (app: App, deps: Deps): void => {
  const { db, clock } = deps

  app.get(
    '/v1/alert-incidents',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listAlertIncidents',
        summary: 'List alert incidents',
        description:
          'Newest first. An incident is open while it is firing or acknowledged. Resolved incidents are kept for ' +
          '400 days.',
        querystring: IncidentQuery,
        response: answers({ 200: Page(Incident) }, 400, 401),
      },
    },
    async ({ actor, query }) => {
      const { limit, cursor, status, ruleId, since } = query
      const filter = { status, ruleId, since: since === undefined ? undefined : new Date(since) }
      const { data, nextCursor } = await app.paging.page(
        { limit, cursor },
        ['alert-incidents', actor.org, filter],
        (page) => listIncidents(db, actor.org, filter, page),
        ({ id }) => id,
      )
      return { data: data.map(presentIncident), nextCursor }
    },
  )

  app.get(
    '/v1/alert-incidents/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getAlertIncident',
        summary: 'Get an alert incident',
        description: 'Includes the timeline.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: IncidentWithTimeline }, 401, 404),
      },
    },
    async ({ actor, params }) => presentWithTimeline(db, actor.org, await getIncident(db, actor.org, params.id)),
  )

  app.post(
    '/v1/alert-incidents/:id/acknowledge',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'acknowledgeAlertIncident',
        summary: 'Acknowledge an alert incident',
        description: 'Shows everyone that you are looking into it, and stops reminders.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: IncidentWithTimeline }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params }) =>
      db.transaction().execute(async (trx) => {
        const incident = await lockIncident(trx, actor.org, params.id)
        if (incident.status !== 'firing') throw new ApiError('conflict', `The incident is already ${incident.status}.`)
        const changed = await acknowledgeIncident(deps, trx, actor.org, incident, actor.userId, clock.now())
        await recordAudit(trx, actor, 'alertIncident.acknowledge', target(incident.id))
        return presentWithTimeline(trx, actor.org, changed)
      }),
  )

  app.post(
    '/v1/alert-incidents/:id/resolve',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'resolveAlertIncident',
        summary: 'Resolve an alert incident',
        description: 'No new incident opens until the condition has cleared at least once.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: IncidentWithTimeline }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params }) =>
      db.transaction().execute(async (trx) => {
        const incident = await lockIncident(trx, actor.org, params.id)
        if (incident.status === 'resolved') throw new ApiError('conflict', 'The incident is already resolved.')
        const changed = await resolveIncident(deps, trx, actor.org, incident, actor.userId, clock.now())
        await recordAudit(trx, actor, 'alertIncident.resolve', target(incident.id))
        return presentWithTimeline(trx, actor.org, changed)
      }),
  )

  app.get(
    '/v1/alert-incidents/:id/comments',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listAlertIncidentComments',
        summary: 'List an alert incident’s comments',
        description: 'Oldest first. The incident’s timeline does not include comments.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(IncidentComment) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getIncident(db, actor.org, params.id)
      const { data, nextCursor } = await app.paging.page(
        query,
        ['alert-incident-comments', actor.org, id],
        (page) => listIncidentComments(db, actor.org, id, page),
        (comment) => comment.id,
      )
      return { data: data.map((comment) => presentComment(id, comment)), nextCursor }
    },
  )

  app.post(
    '/v1/alert-incidents/:id/comments',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createAlertIncidentComment',
        summary: 'Comment on an alert incident',
        description: 'An incident can have at most 1,000 comments.',
        params: IdParams,
        querystring: NoQuery,
        body: IncidentCommentWrite,
        response: answers({ 201: IncidentComment }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body: { body: given } }, reply) => {
      const body = checkRichText(given, 'body')
      if (plainText(body) === '') throw invalid('body', 'must not be empty')
      const comment = await db.transaction().execute(async (trx) => {
        const incident = await lockIncident(trx, actor.org, params.id)
        if ((await countIncidentComments(trx, actor.org, incident.id)) >= mostComments) {
          throw new ApiError('conflict', 'An incident can have at most 1,000 comments.')
        }
        const id = newId()
        const event = { id, incidentId: incident.id, kind: 'commented', userId: actor.userId, body } as const
        await insertIncidentEvent(trx, actor.org, { ...event, now: clock.now() })
        await deps.reactions.peopleMentioned(trx, actor.org, {
          commentId: id,
          on: { type: 'alertIncident', id: incident.id },
          userIds: mentionedUserIds(body),
          byUserId: actor.userId,
        })
        const audited = { type: 'alertIncidentComment', id }
        await recordAudit(trx, actor, 'alertIncidentComment.create', audited, target(incident.id))
        return presentComment(incident.id, await getIncidentComment(trx, actor.org, incident.id, id))
      })
      return reply
        .code(201)
        .header('location', `/v1/alert-incidents/${comment.incidentId}/comments/${comment.id}`)
        .send(comment)
    },
  )

  app.get(
    '/v1/alert-incidents/:id/comments/:commentId',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getAlertIncidentComment',
        summary: 'Get a comment on an alert incident',
        description: 'Comments cannot be changed.',
        params: IncidentCommentParams,
        querystring: NoQuery,
        response: answers({ 200: IncidentComment }, 401, 404),
      },
    },
    async ({ actor, params }) =>
      presentComment(params.id, await getIncidentComment(db, actor.org, params.id, params.commentId)),
  )
}

type StoredComment = Awaited<ReturnType<typeof getIncidentComment>>

const presentComment = (incidentId: string, { id, userId, body, at }: StoredComment) => ({
  id,
  incidentId,
  // Only people write comments, and every comment has a body, so neither is null.
  authorUserId: userId as string,
  body: body as object,
  createdAt: at,
})
