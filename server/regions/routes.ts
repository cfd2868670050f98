import type { Static } from 'typebox'
import { getConversation } from '../conversations/queries.ts'
import { findRecording, lockRecordedConversation } from '../conversations/recordings/queries.ts'
import { findAttached } from '../findings/attachments/queries.ts'
import { getFinding, listIdsWithMerged } from '../findings/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { requireOwnAnswer } from '../reviews/blind.ts'
import { isBlind, listBlind } from '../reviews/queries.ts'
import { countRegions, deleteRegion, getRegion, insertRegion, listFindingRegions, listRegions } from './queries.ts'
import { mostRegions, Region, RegionCreate, RegionParams } from './schema.ts'

const tags = ['Conversations']

/**
 * Returns the conversation. If the person can't see all of its regions, also returns the author of those they can see.
 */
const visibleOf = async (db: Db, { org, userId }: Actor, conversationId: string) => ({
  conversationId,
  author: (await isBlind(db, org, userId, conversationId)) ? userId : undefined,
})

/** Notifies all clients that show the conversation, and records who changed it. */
const recordChange = async (trx: Db, actor: Actor, action: string, region: { id: string; conversationId: string }) => {
  const { id, conversationId } = region
  await publishChanges(trx, actor.org, { resource: 'conversations', kind: 'updated', ids: [conversationId] })
  await recordAudit(trx, actor, action, { type: 'region', id }, { type: 'conversation', id: conversationId })
}

/** Returns the conversation's ID. Throws if a region can't be marked. Locks the conversation against erasure. */
const lockMarkable = async (trx: Db, { org }: Actor, id: string): Promise<string> => {
  if (!(await lockRecordedConversation(trx, org, id))) throw notFound()
  const recording = await findRecording(trx, org, id)
  if (recording?.status !== 'stored') throw new ApiError('conflict', 'The conversation has no stored recording.')
  if ((await countRegions(trx, org, id)) >= mostRegions) {
    throw new ApiError('conflict', `A conversation can have at most ${mostRegions} regions.`)
  }
  return recording.conversationId
}

const checkFinding = async (trx: Db, actor: Actor, findingId: string, conversationId: string): Promise<void> => {
  await requireOwnAnswer(trx, actor, conversationId)
  if (await findAttached(trx, actor.org, findingId, conversationId)) return
  throw invalid('findingId', 'must be a finding that the conversation is attached to')
}

export const regions = (app: App, { db, clock }: Deps): void => {
  app.get(
    '/v1/conversations/:id/regions',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listConversationRegions',
        summary: 'List a recording’s regions',
        description:
          'Spans of the recording that people marked, oldest first. Contains only your own regions while you have a ' +
          'blind review of the conversation.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(Region) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getConversation(db, actor.org, params.id)
      const visible = await visibleOf(db, actor, id)
      return app.paging.page(
        query,
        ['regions', actor.org, id],
        (page) => listRegions(db, actor.org, visible, page),
        (region) => region.id,
      )
    },
  )

  app.get(
    '/v1/findings/:id/regions',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listFindingRegions',
        summary: 'List a finding’s regions',
        description:
          'Regions of recordings that show the finding, oldest first, including those of merged findings. Other ' +
          'people’s regions of a conversation are omitted while you have a blind review of it.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(Region) }, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getFinding(db, actor.org, params.id)
      const findingIds = await listIdsWithMerged(db, actor.org, id)
      const page = await app.paging.page(
        query,
        ['finding-regions', actor.org, id],
        (slice) => listFindingRegions(db, actor.org, findingIds, slice),
        (region) => region.id,
      )
      const conversationIds = [...new Set(page.data.map(({ conversationId }) => conversationId))]
      const hidden = await listBlind(db, actor.org, actor.userId, conversationIds)
      const isVisible = ({ conversationId, authorUserId }: Static<typeof Region>) =>
        authorUserId === actor.userId || !hidden.includes(conversationId)
      return { ...page, data: page.data.filter(isVisible) }
    },
  )

  app.post(
    '/v1/conversations/:id/regions',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createConversationRegion',
        summary: 'Mark a region of a recording',
        description: `Requires a stored recording. A conversation can have at most ${mostRegions} regions.`,
        params: IdParams,
        querystring: NoQuery,
        body: RegionCreate,
        response: answers({ 201: Region }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }, reply) => {
      const { startMs, endMs, channel = null, findingId = null } = body
      if (endMs <= startMs) throw invalid('endMs', 'must be after startMs')
      const region = await db.transaction().execute(async (trx) => {
        const conversationId = await lockMarkable(trx, actor, params.id)
        if (findingId !== null) await checkFinding(trx, actor, findingId, conversationId)
        const created = { id: newId(), conversationId, startMs, endMs, channel, findingId, note: body.note.trim() }
        await insertRegion(trx, actor.org, { ...created, authorUserId: actor.userId, createdAt: clock.now() })
        await recordChange(trx, actor, 'region.create', created)
        return getRegion(trx, actor.org, { conversationId, author: undefined }, created.id)
      })
      return reply
        .code(201)
        .header('location', `/v1/conversations/${region.conversationId}/regions/${region.id}`)
        .send(region)
    },
  )

  app.get(
    '/v1/conversations/:id/regions/:regionId',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getConversationRegion',
        summary: 'Get a recording’s region',
        description: 'Returns the start and end, the channel if the region has one, and the note.',
        params: RegionParams,
        querystring: NoQuery,
        response: answers({ 200: Region }, 401, 404),
      },
    },
    async ({ actor, params }) => getRegion(db, actor.org, await visibleOf(db, actor, params.id), params.regionId),
  )

  app.delete(
    '/v1/conversations/:id/regions/:regionId',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteConversationRegion',
        summary: 'Delete a region of a recording',
        description: 'Authors can delete their own regions, and admins can delete any; others get 403.',
        params: RegionParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const region = await getRegion(trx, actor.org, await visibleOf(trx, actor, params.id), params.regionId)
        if (region.authorUserId !== actor.userId && !hasRole(actor.role, 'admin')) {
          throw new ApiError('forbidden', 'Only the author or an admin can delete a region.')
        }
        await deleteRegion(trx, actor.org, region.id)
        await recordChange(trx, actor, 'region.delete', region)
      })
      return reply.code(204).send(null)
    },
  )
}
