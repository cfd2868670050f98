import type { Static } from 'typebox'
import { findAgents } from '../agents/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { weekMs } from '../platform/durations.ts'
import { type Issue, invalidAll, notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { lowestIdAt, newId } from '../platform/ids.ts'
import { deleteDeliveries } from './deliveries/jobs.ts'
import {
  deleteIntegration,
  getIntegration,
  insertIntegration,
  listIntegrations,
  lockIntegration,
  updateIntegration,
} from './queries.ts'
import { defaultPreviousSecretValidSeconds, Integration, IntegrationCreate, IntegrationUpdate } from './schema.ts'
import { openSecret, sealPreviousSecret, sealSecret } from './secret.ts'
import { addressIssues, type IntegrationSettings, settingsIssues } from './settings.ts'
import { findShownSyncs } from './sync/show-syncs.ts'

const tags = ['Integrations']

type Update = Static<typeof IntegrationUpdate>

const refuseIf = (issues: Issue[]): void => {
  if (issues.length > 0) throw invalidAll(issues)
}

export const integrations = (app: App, { db, clock, secrets, jobs }: Deps): void => {
  const sinceId = () => lowestIdAt(new Date(clock.now().getTime() - weekMs))

  type Row = Awaited<ReturnType<typeof getIntegration>>

  const shownAll = async (trx: Db, org: OrgId, rows: Row[]) => {
    const syncs = await findShownSyncs(
      trx,
      org,
      rows.map(({ id }) => id),
    )
    return rows.map((row) => ({
      ...row,
      webhookPath: `/v1/integrations/${row.id}/webhook`,
      previousSecretUntil:
        row.previousSecretUntil && row.previousSecretUntil > clock.now() ? row.previousSecretUntil : null,
      sync: syncs.get(row.id) ?? null,
    }))
  }

  const getShown = async (trx: Db, org: OrgId, id: string) => {
    const [shown] = await shownAll(trx, org, [await getIntegration(trx, org, id, sinceId())])
    if (!shown) throw notFound()
    return shown
  }

  const agentIssues = async (trx: Db, org: OrgId, { agentId }: IntegrationSettings): Promise<Issue[]> => {
    if (agentId === undefined) return []
    const found = await findAgents(trx, org, { ids: [agentId], externalIds: [] })
    return found.length > 0 ? [] : [{ path: 'settings.agentId', message: 'must be an agent of this organization' }]
  }

  type LockedRow = Awaited<ReturnType<typeof lockIntegration>>

  const requireSettings = async (
    trx: Db,
    org: OrgId,
    row: LockedRow,
    settings: IntegrationSettings,
    hasSecret: boolean,
  ) => {
    refuseIf(settingsIssues(row.provider, settings))
    const issues = [...addressIssues(settings), ...(await agentIssues(trx, org, settings))]
    // Without this check, anyone who can change a URL could have the stored secret sent there.
    if (settings.apiBaseUrl !== row.settings.apiBaseUrl && !hasSecret) {
      issues.push({ path: 'settings.apiBaseUrl', message: 'can only be changed together with the secret' })
    }
    refuseIf(issues)
  }

  /** Returns the changes for a new secret, or for a new expiry of the previous one. */
  const rotation = (org: OrgId, row: LockedRow, { secret, previousSecretValidSeconds }: Update) => {
    const validMs = (previousSecretValidSeconds ?? defaultPreviousSecretValidSeconds) * 1_000
    const previousSecretUntil = new Date(clock.now().getTime() + validMs)
    const before = openSecret(secrets, row)
    if (secret !== undefined && secret !== before) {
      return {
        secret: sealSecret(secrets, org, row.id, secret),
        previousSecret: sealPreviousSecret(secrets, org, row.id, before),
        previousSecretUntil,
      }
    }
    // An expired secret stays expired.
    const isInRotation = row.previousSecretUntil !== null && row.previousSecretUntil > clock.now()
    return previousSecretValidSeconds !== undefined && isInRotation ? { previousSecretUntil } : {}
  }

  app.get(
    '/v1/integrations',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listIntegrations',
        summary: 'List integrations',
        description: 'Newest first. Secrets are never shown.',
        querystring: PageQuery,
        response: answers({ 200: Page(Integration) }, 401, 403),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['integrations', actor.org],
        (page) => listIntegrations(db, actor.org, page, sinceId()),
        ({ id }) => id,
      )
      return { data: await shownAll(db, actor.org, data), nextCursor }
    },
  )

  app.post(
    '/v1/integrations',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'createIntegration',
        summary: 'Create an integration',
        description: 'Enter this server’s origin followed by `webhookPath` as the webhook address at the provider.',
        querystring: NoQuery,
        body: IntegrationCreate,
        response: answers({ 201: Integration }, 400, 401, 403),
      },
    },
    async ({ actor, body }, reply) => {
      const { provider, name, secret, settings = {} } = body
      refuseIf([...addressIssues(settings), ...(await agentIssues(db, actor.org, settings))])
      const id = newId()
      const created = await db.transaction().execute(async (trx) => {
        const sealed = sealSecret(secrets, actor.org, id, secret)
        await insertIntegration(trx, actor.org, { id, provider, name, secret: sealed, settings })
        await recordAudit(trx, actor, 'integration.create', { type: 'integration', id })
        return getShown(trx, actor.org, id)
      })
      return reply.code(201).header('location', `/v1/integrations/${id}`).send(created)
    },
  )

  app.get(
    '/v1/integrations/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'getIntegration',
        summary: 'Get an integration',
        description: 'Includes its status. The secret is never shown.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Integration }, 401, 403, 404),
      },
    },
    ({ actor, params }) => getShown(db, actor.org, params.id),
  )

  app.patch(
    '/v1/integrations/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'updateIntegration',
        summary: 'Update an integration',
        description:
          'Changes its name, settings, or secret. A replaced secret stays valid for `previousSecretValidSeconds`. To change `settings.apiBaseUrl`, send the secret too.',
        params: IdParams,
        querystring: NoQuery,
        body: IntegrationUpdate,
        response: answers({ 200: Integration }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const row = await lockIntegration(trx, actor.org, params.id)
        const { name, settings } = body
        if (settings) await requireSettings(trx, actor.org, row, settings, body.secret !== undefined)
        await updateIntegration(trx, actor.org, row.id, {
          ...(name !== undefined && { name }),
          ...(settings && { settings }),
          ...rotation(actor.org, row, body),
        })
        await recordAudit(trx, actor, 'integration.update', { type: 'integration', id: row.id })
        return getShown(trx, actor.org, row.id)
      }),
  )

  app.delete(
    '/v1/integrations/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'deleteIntegration',
        summary: 'Delete an integration',
        description:
          'Deletes its deliveries and keeps its conversations. The provider’s webhooks are rejected from now on.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await lockIntegration(trx, actor.org, params.id)
        await deleteIntegration(trx, actor.org, id)
        await jobs.enqueue(trx, deleteDeliveries, { organizationId: actor.org, integrationId: id })
        await recordAudit(trx, actor, 'integration.delete', { type: 'integration', id })
      })
      return reply.code(204).send(null)
    },
  )
}
