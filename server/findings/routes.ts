import { getConversation } from '../conversations/queries.ts'
import { isMember } from '../members/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { type Issue, invalid, invalidAll } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { requireOwnAnswer } from '../reviews/blind.ts'
import { checkRichText } from '../rich-text/check.ts'
import { announceFinding, shown } from './announce.ts'
import { assignByRules } from './assign.ts'
import { parseFilter } from './filter.ts'
import { lockUnmergedFinding } from './lock.ts'
import { mergeFinding } from './merge.ts'
import {
  type FindingFilter,
  getFinding,
  insertFinding,
  listFindings,
  listIdsWithMerged,
  listMoves,
  updateFinding,
} from './queries.ts'
import {
  Finding,
  FindingCreate,
  FindingMerge,
  FindingMove,
  FindingQuery,
  FindingTriage,
  FindingUpdate,
} from './schema.ts'
import { triageFinding } from './triage.ts'

const tags = ['Findings']

/** Returns the tags without surrounding spaces, and otherwise unchanged. */
const tidyTags = (given: string[]): string[] => {
  const tidy = given.map((tag) => tag.trim())
  const keys = tidy.map((tag) => tag.toLowerCase())
  const again = keys.findIndex((key, index) => keys.indexOf(key) < index)
  if (again !== -1) throw invalid(`tags[${again}]`, 'is listed twice')
  return tidy
}

const checkAssignee = async (trx: Db, org: OrgId, userId: string): Promise<void> => {
  if (!(await isMember(trx, org, userId))) throw invalid('assigneeUserId', 'must be the userId of a member')
}

/**
 * Throws if the request contains a status or priority. These have their own operation, but clients often send them
 * here.
 */
const refuseTriage = async ({ body }: { body: unknown }): Promise<void> => {
  const issues: Issue[] = ['status', 'priority']
    .filter((path) => typeof body === 'object' && body !== null && Object.hasOwn(body, path))
    .map((path) => ({ path, message: 'cannot be changed here; use POST /v1/findings/{id}/triage' }))
  if (issues.length > 0) throw invalidAll(issues)
}

export const findings = (app: App, deps: Deps): void => {
  const { db, clock, reactions } = deps

  const tellAssignee = (trx: Db, { org, userId }: Actor, assigned: { findingId: string; assigneeUserId: string }) =>
    reactions.findingAssigned(trx, org, { ...assigned, byUserId: userId, at: clock.now() })

  const pageOf = async (org: OrgId, filter: FindingFilter, query: { limit: number; cursor?: string }) => {
    const { data, nextCursor } = await app.paging.page(
      query,
      ['findings', org, filter],
      (page) => listFindings(db, org, filter, page),
      ({ id }) => id,
    )
    return { data: data.map(shown), nextCursor }
  }

  app.get(
    '/v1/findings',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listFindings',
        summary: 'List findings',
        description: 'Newest first. All filters must match.',
        querystring: FindingQuery,
        response: answers({ 200: Page(Finding) }, 401),
      },
    },
    ({ actor, query }) => pageOf(actor.org, parseFilter(query), query),
  )

  app.get(
    '/v1/conversations/:id/findings',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listConversationFindings',
        summary: 'List a conversation’s findings',
        description:
          'Newest first. Merged findings are replaced by the one they were merged into. Returns 403 while you have ' +
          'a blind review of the conversation.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(Finding) }, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getConversation(db, actor.org, params.id)
      await requireOwnAnswer(db, actor, id)
      return pageOf(actor.org, { conversationIds: [id], unmerged: true }, query)
    },
  )

  app.post(
    '/v1/findings',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createFinding',
        summary: 'Create a finding',
        description:
          'A new finding has no conversations. Attach those that show the problem. Without an assignee, the finding ' +
          'is assigned to the owner of the first ownership rule that matches its tags.',
        querystring: NoQuery,
        body: FindingCreate,
        response: answers({ 201: Finding }, 400, 401, 403),
      },
    },
    async ({ actor, body: { tags: given = [], priority = 'none', findingType = 0, ...body } }, reply) => {
      if (body.description) checkRichText(body.description, 'description')
      const tags = tidyTags(given)
      const finding = await db.transaction().execute(async (trx) => {
        if (body.assigneeUserId) await checkAssignee(trx, actor.org, body.assigneeUserId)
        const id = newId()
        await insertFinding(trx, actor.org, {
          ...body,
          id,
          tags,
          priority,
          findingType,
          createdByUserId: actor.userId,
          source: { kind: 'manual' },
          now: clock.now(),
        })
        if (body.assigneeUserId) await tellAssignee(trx, actor, { findingId: id, assigneeUserId: body.assigneeUserId })
        else await assignByRules(deps, trx, actor.org, { findingId: id, tags, now: clock.now() })
        await recordAudit(trx, actor, 'finding.create', { type: 'finding', id })
        return announceFinding(deps, trx, actor.org, id, 'created')
      })
      return reply.code(201).header('location', `/v1/findings/${finding.id}`).send(finding)
    },
  )

  app.get(
    '/v1/findings/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getFinding',
        summary: 'Get a finding',
        description: '`mergedIntoId` is set if the finding was merged into another.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Finding }, 401, 404),
      },
    },
    async ({ actor, params }) => shown(await getFinding(db, actor.org, params.id)),
  )

  app.patch(
    '/v1/findings/:id',
    {
      preValidation: refuseTriage,
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateFinding',
        summary: 'Update a finding',
        description: 'To change status or priority, use `POST /v1/findings/{id}/triage`.',
        params: IdParams,
        querystring: NoQuery,
        body: FindingUpdate,
        response: answers({ 200: Finding }, 400, 401, 404),
      },
    },
    ({ actor, params, body }) => {
      if (body.description) checkRichText(body.description, 'description')
      const change = { ...body, ...(body.tags && { tags: tidyTags(body.tags) }), now: clock.now() }
      return db.transaction().execute(async (trx) => {
        const { id, assigneeUserId } = await lockUnmergedFinding(trx, actor.org, params.id).catch(
          async (error: unknown) => {
            // An invalid request takes precedence over a missing finding.
            if (body.assigneeUserId) await checkAssignee(trx, actor.org, body.assigneeUserId)
            throw error
          },
        )
        // A client can send back the response of a GET request without changing anything, even if the assignee has
        // left.
        const isNew = body.assigneeUserId?.toLowerCase() !== assigneeUserId
        if (body.assigneeUserId && isNew) await checkAssignee(trx, actor.org, body.assigneeUserId)
        await updateFinding(trx, actor.org, id, change)
        if (body.assigneeUserId && isNew) {
          await tellAssignee(trx, actor, { findingId: id, assigneeUserId: body.assigneeUserId })
        }
        await recordAudit(trx, actor, 'finding.update', { type: 'finding', id })
        return announceFinding(deps, trx, actor.org, id, 'updated')
      })
    },
  )

  app.post(
    '/v1/findings/:id/triage',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'triageFinding',
        summary: 'Change a finding’s status or priority',
        description:
          'The change is recorded in the history with the `reason`. Returns 409 if the finding was merged into another.',
        params: IdParams,
        querystring: NoQuery,
        body: FindingTriage,
        response: answers({ 200: Finding }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const id = await triageFinding(trx, actor, params.id, { ...body, now: clock.now() })
        await recordAudit(trx, actor, 'finding.triage', { type: 'finding', id })
        return announceFinding(deps, trx, actor.org, id, 'updated')
      }),
  )

  app.post(
    '/v1/findings/:id/merge',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'mergeFinding',
        summary: 'Merge a finding into another',
        description:
          'The merged finding becomes resolved and can no longer be changed. Returns the other finding, which ' +
          'now shows the conversations, comments, and history of both.',
        params: IdParams,
        querystring: NoQuery,
        body: FindingMerge,
        response: answers({ 200: Finding }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const { from, into } = await mergeFinding(trx, actor, params.id, { ...body, now: clock.now() })
        const targets = [from, into].map((id) => ({ type: 'finding', id }))
        await recordAudit(trx, actor, 'finding.merge', ...targets)
        await announceFinding(deps, trx, actor.org, from, 'updated')
        return announceFinding(deps, trx, actor.org, into, 'updated')
      }),
  )

  app.get(
    '/v1/findings/:id/history',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listFindingHistory',
        summary: 'List a finding’s history',
        description: 'Latest change first, including the history of merged findings.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(FindingMove) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getFinding(db, actor.org, params.id)
      const findingIds = await listIdsWithMerged(db, actor.org, id)
      return app.paging.page(
        query,
        ['finding-history', actor.org, id],
        (page) => listMoves(db, actor.org, findingIds, page),
        (move) => move.id,
      )
    },
  )
}
