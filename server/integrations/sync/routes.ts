import type { Static } from 'typebox'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { dayMs } from '../../platform/durations.ts'
import { ApiError, invalid, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery, Page, PageQuery } from '../../platform/http/schemas.ts'
import { lowestIdAt } from '../../platform/ids.ts'
import { isPublicHostByForm } from '../../platform/outbound/public-host.ts'
import { getSealedIntegration, lockIntegration } from '../queries.ts'
import { listGaps } from './gaps/queries.ts'
import { beginRun } from './jobs.ts'
import { isStoredKey, openKey, sealKey } from './key.ts'
import { callSourceOf } from './providers.ts'
import { deleteSync, getSync, lockSync, upsertSync } from './queries.ts'
import { cancelRunOf, listRuns, sumRuns } from './runs/queries.ts'
import { Sync, SyncGap, SyncGapQuery, SyncPut, SyncRun } from './schema.ts'
import { findShownSyncs } from './show-syncs.ts'

const tags = ['Integrations']

export const integrationSyncs = (app: App, deps: Deps): void => {
  const { db, clock, secrets, config } = deps

  const shown = async (trx: Db, org: OrgId, integrationId: string) => {
    const sync = (await findShownSyncs(trx, org, [integrationId])).get(integrationId)
    if (!sync) throw notFound()
    const sinceId = lowestIdAt(new Date(clock.now().getTime() - 30 * dayMs))
    return { ...sync, last30Days: await sumRuns(trx, org, integrationId, sinceId) }
  }

  /** Throws if a key would be sent unencrypted or to this machine, unless the operator allows it. */
  const checkAddress = (address: string | null): void => {
    if (address === null) return
    const url = URL.parse(address)
    const isPublic = url !== null && isPublicHostByForm(url.hostname)
    const isAllowed = isPublic ? url.protocol === 'https:' : config.allowedPrivateAddresses.length > 0
    if (url === null || !isAllowed) throw invalid('apiBaseUrl', 'must be an https URL of a public host')
  }

  const whatIsStored = async (
    trx: Db,
    org: OrgId,
    id: string,
    { apiKey, apiBaseUrl = null, enabled, intervalMinutes, lookbackDays }: Static<typeof SyncPut>,
  ) => {
    const now = clock.now()
    const before = await lockSync(trx, org, id)
    const isElsewhere = before !== undefined && before.apiBaseUrl !== apiBaseUrl
    if (apiKey === undefined && (before === undefined || isElsewhere)) {
      // Without this check, anyone who can change a URL could have the stored key sent there.
      throw invalid('apiKey', isElsewhere ? 'is required to change apiBaseUrl' : 'is required')
    }
    const key = apiKey ?? openKey(secrets, org, id, before?.apiKey ?? '')
    const begin = new Date(now.getTime() - lookbackDays * dayMs)
    const listedUntil = (): Date => {
      if (before?.lookbackDays !== lookbackDays) return begin
      // The key may belong to another account, for which nothing has been listed yet.
      const isSame = !isElsewhere && isStoredKey(secrets, org, id, { apiKey: key, sealed: before.apiKey })
      return isSame || before.listedUntil < begin ? before.listedUntil : begin
    }
    return {
      enabled,
      apiBaseUrl,
      intervalMinutes,
      lookbackDays,
      listedUntil: listedUntil(),
      nextRunAt: now,
      apiKey: sealKey(secrets, org, id, key),
    }
  }

  app.get(
    '/v1/integrations/:id/sync',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'getSync',
        summary: 'Get an integration’s sync',
        description: 'Includes settings and status. The provider’s API key is never shown.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Sync }, 401, 403, 404),
      },
    },
    ({ actor, params }) => shown(db, actor.org, params.id),
  )

  app.put(
    '/v1/integrations/:id/sync',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'setSync',
        summary: 'Set up an integration’s sync',
        description:
          'Backfills missed webhooks from the provider’s API. Available for `elevenlabs`, `retell`, and `vapi`. The first run starts within a minute. A run in progress is cancelled.',
        params: IdParams,
        querystring: NoQuery,
        body: SyncPut,
        response: answers({ 200: Sync }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const { id, provider } = await lockIntegration(trx, actor.org, params.id)
        if (!callSourceOf(provider)) {
          throw new ApiError('conflict', `${provider} has no API that lists calls, so it cannot be synced.`)
        }
        checkAddress(body.apiBaseUrl ?? null)
        const row = await whatIsStored(trx, actor.org, id, body)
        await cancelRunOf(trx, actor.org, id, clock.now())
        await upsertSync(trx, actor.org, id, row)
        await recordAudit(trx, actor, 'integration.set-sync', { type: 'integration', id })
        return shown(trx, actor.org, id)
      }),
  )

  app.delete(
    '/v1/integrations/:id/sync',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'deleteSync',
        summary: 'Delete an integration’s sync',
        description:
          'Deletes its key, runs, and gaps, and keeps the conversations. The integration’s webhooks keep working.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        await deleteSync(trx, actor.org, params.id)
        await recordAudit(trx, actor, 'integration.delete-sync', { type: 'integration', id: params.id })
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/integrations/:id/sync/run',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'runSync',
        summary: 'Start a sync run now',
        description: 'Has no effect while a run is in progress. Returns 409 if the sync is disabled or paused.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: Sync }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const sync = await db.transaction().execute(async (trx) => {
        const { enabled, pausedReason } = await getSync(trx, actor.org, params.id)
        if (!enabled) throw new ApiError('conflict', 'The sync is disabled. Enable it first.')
        if (pausedReason !== null) throw new ApiError('conflict', `The sync is paused. ${pausedReason}`)
        await beginRun(deps, trx, actor.org, params.id)
        await recordAudit(trx, actor, 'integration.run-sync', { type: 'integration', id: params.id })
        return shown(trx, actor.org, params.id)
      })
      return reply.code(202).send(sync)
    },
  )

  app.get(
    '/v1/integrations/:id/sync/runs',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listSyncRuns',
        summary: 'List an integration’s sync runs',
        description:
          'Covers the last month, newest first. Each run counts the calls it listed, stored, and could not retrieve.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(SyncRun) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const integration = await getSealedIntegration(db, actor.org, params.id)
      return app.paging.page(
        query,
        ['sync-runs', actor.org, integration.id],
        (page) => listRuns(db, actor.org, integration.id, page),
        ({ id }) => id,
      )
    },
  )

  app.get(
    '/v1/integrations/:id/sync/gaps',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listSyncGaps',
        summary: 'List calls a sync could not retrieve',
        description: 'Newest first. `nextTryAt` is the time of the next attempt. Gaps are kept for 90 days.',
        params: IdParams,
        querystring: SyncGapQuery,
        response: answers({ 200: Page(SyncGap) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const integration = await getSealedIntegration(db, actor.org, params.id)
      const { limit, cursor, state } = query
      const filter = { integrationId: integration.id, ...(state !== undefined && { state }) }
      return app.paging.page(
        { limit, cursor },
        ['sync-gaps', actor.org, filter],
        (page) => listGaps(db, actor.org, filter, page),
        ({ id }) => id,
      )
    },
  )
}
