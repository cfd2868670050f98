import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalidAll } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { findEndpoint } from '../webhooks/queries.ts'
import {
  deleteDestination,
  findMemberIds,
  getDestination,
  insertDestination,
  type Kind,
  listDestinations,
  lockDestination,
  lockDestinationCount,
  updateDestination,
} from './queries.ts'
import { Destination, DestinationCreate, DestinationUpdate } from './schema.ts'
import {
  type CheckedSettings,
  checkSettings,
  type EmailSettings,
  openStored,
  sealDestinationSecret,
  type WebhookSettings,
} from './settings.ts'

const tags = ['Alerts']
const mostDestinations = 50

const target = (id: string) => ({ type: 'destination', id })

/** Throws if the settings refer to members or an endpoint that do not exist. */
const checkReferences = async (db: Db, org: OrgId, kind: Kind, { settings }: CheckedSettings): Promise<void> => {
  if (kind === 'webhook') {
    const { endpointId } = settings as WebhookSettings
    if (await findEndpoint(db, org, endpointId)) return
    throw invalidAll([{ path: 'settings.endpointId', message: 'is not a webhook endpoint of your organization' }])
  }
  if (kind !== 'email') return
  const { memberIds } = settings as EmailSettings
  const known = new Set(await findMemberIds(db, org, memberIds))
  const issues = memberIds.flatMap((id, index) =>
    known.has(id.toLowerCase())
      ? []
      : [{ path: `settings.memberIds[${index}]`, message: 'is not a member of your organization' }],
  )
  if (issues.length > 0) throw invalidAll(issues)
}

export const destinations = (app: App, { db, secrets, clock, config, reactions }: Deps): void => {
  const { allowedPrivateAddresses } = config

  app.get(
    '/v1/destinations',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listDestinations',
        summary: 'List destinations',
        description: 'Newest first. URLs and keys are masked.',
        querystring: PageQuery,
        response: answers({ 200: Page(Destination) }, 401),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['destinations', actor.org],
        (page) => listDestinations(db, actor.org, page),
        ({ id }) => id,
      ),
  )

  app.post(
    '/v1/destinations',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'createDestination',
        summary: 'Create a destination',
        description:
          'Alerts are sent to destinations. An organization can have 50. After creating one, send a test to check ' +
          'its settings.',
        querystring: NoQuery,
        body: DestinationCreate,
        response: answers({ 201: Destination }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const { name, kind } = body
      const checked = checkSettings(kind, body.settings, { allowedPrivateAddresses })
      const id = newId()
      const destination = await db.transaction().execute(async (trx) => {
        await checkReferences(trx, actor.org, kind, checked)
        if ((await lockDestinationCount(trx, actor.org)) >= mostDestinations) {
          throw new ApiError('conflict', `An organization can have ${mostDestinations} destinations. Delete one first.`)
        }
        const created = await insertDestination(trx, actor.org, {
          id,
          name,
          kind,
          settings: checked.settings,
          secret: sealDestinationSecret(secrets, actor.org, id, checked.secret),
          createdByUserId: actor.userId,
          now: clock.now(),
        })
        await recordAudit(trx, actor, 'destination.create', target(id))
        return created
      })
      return reply.code(201).header('location', `/v1/destinations/${id}`).send(destination)
    },
  )

  app.get(
    '/v1/destinations/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getDestination',
        summary: 'Get a destination',
        description: '`failingSince` shows whether messages arrive. URLs and keys are masked.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Destination }, 401, 404),
      },
    },
    ({ actor, params }) => getDestination(db, actor.org, params.id),
  )

  app.patch(
    '/v1/destinations/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'updateDestination',
        summary: 'Update a destination',
        description: 'A destination’s kind cannot change. Set `status` to disable or enable it.',
        params: IdParams,
        querystring: NoQuery,
        body: DestinationUpdate,
        response: answers({ 200: Destination }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const stored = await lockDestination(trx, actor.org, params.id)
        const { id, kind } = stored
        const { name, settings: given, status } = body
        const change: Parameters<typeof updateDestination>[3] = { name, status }
        if (given !== undefined) {
          const before = openStored(secrets, actor.org, stored)
          const checked = checkSettings(kind, given, { allowedPrivateAddresses, stored: before })
          await checkReferences(trx, actor.org, kind, checked)
          change.settings = {
            shown: checked.settings,
            secret: sealDestinationSecret(secrets, actor.org, id, checked.secret),
          }
          change.failingSince = null
        }
        const changed = await updateDestination(trx, actor.org, id, change, clock.now())
        await recordAudit(trx, actor, 'destination.update', target(id))
        return changed
      }),
  )

  app.delete(
    '/v1/destinations/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'deleteDestination',
        summary: 'Delete a destination',
        description:
          'Also deletes its delivery log, and removes it from alert rules. To stop messages temporarily, disable it instead.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await getDestination(trx, actor.org, params.id)
        // Rule checks lock the rule before the destination, so this does the same.
        await reactions.destinationDeleted(trx, actor.org, { destinationId: id })
        await lockDestination(trx, actor.org, id)
        await deleteDestination(trx, actor.org, id)
        await recordAudit(trx, actor, 'destination.delete', target(id))
      })
      return reply.code(204).send(null)
    },
  )
}
