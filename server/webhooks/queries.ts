import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { dueRows } from '../platform/db/due-rows.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Status = 'proposed' | 'active' | 'disabled'
type DisabledReason = 'by_admin' | 'gone' | 'failing'

const columns = [
  'id',
  'name',
  'url',
  'events',
  sql<Status>`status`.as('status'),
  sql<DisabledReason | null>`disabled_reason`.as('disabledReason'),
  'failing_since as failingSince',
  'previous_secret_until as previousSecretUntil',
  'approved_by_user_id as approvedByUserId',
  'approved_at as approvedAt',
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

const sealedColumns = [...columns, 'secret', 'previous_secret as previousSecret'] as const

export const listEndpoints = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('organization_id', '=', org)
    .$call(newestFirst('id', page))
    .execute()

/** Finds an active endpoint, which can be selected for notifications. */
export const findEndpoint = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirst()

export const getEndpoint = async (db: Db, org: OrgId, id: string) => {
  const endpoint = await findEndpoint(db, org, id)
  if (!endpoint) throw notFound()
  return endpoint
}

/** Returns an endpoint with its encrypted secrets, which never leave the service. */
export const findSealedEndpoint = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('webhook_endpoints')
    .select(sealedColumns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirst()

export const lockEndpoint = (trx: Db, org: OrgId, id: string) =>
  trx
    .selectFrom('webhook_endpoints')
    .select(sealedColumns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

/** Counts the endpoints. Until the transaction ends, no other transaction of the organization can add one. */
export const lockEndpointCount = async (trx: Db, org: OrgId): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('webhook endpoints of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('webhook_endpoints')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  return count
}

type NewEndpoint = {
  id: string
  name: string
  url: string
  events: string[]
  /** The encrypted secret. */
  secret: string
  createdByUserId: string
  now: Date
}

export const insertEndpoint = (trx: Db, org: OrgId, { id, name, url, events, secret, ...made }: NewEndpoint) =>
  trx
    .insertInto('webhook_endpoints')
    .values({
      organization_id: org,
      id,
      name,
      url,
      events,
      secret,
      created_by_user_id: made.createdByUserId,
      created_at: made.now,
      updated_at: made.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

type EndpointChange = {
  name?: string | undefined
  url?: string | undefined
  events?: string[] | undefined
  status?: Status
  disabledReason?: DisabledReason | null
  approval?: { userId: string; at: Date } | null
  failingSince?: null
  secret?: string
  previousSecret?: { sealed: string; until: Date }
}

export const updateEndpoint = (trx: Db, org: OrgId, id: string, change: EndpointChange, now: Date) => {
  const { name, url, events, status, disabledReason, approval, failingSince, secret, previousSecret } = change
  return trx
    .updateTable('webhook_endpoints')
    .set({
      ...(name !== undefined && { name }),
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events }),
      ...(status !== undefined && { status }),
      ...(disabledReason !== undefined && { disabled_reason: disabledReason }),
      ...(approval !== undefined && {
        approved_by_user_id: approval?.userId ?? null,
        approved_at: approval?.at ?? null,
      }),
      ...(failingSince !== undefined && { failing_since: failingSince }),
      ...(secret !== undefined && { secret }),
      ...(previousSecret && { previous_secret: previousSecret.sealed, previous_secret_until: previousSecret.until }),
      updated_at: now,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)
}

export const deleteEndpoint = (trx: Db, org: OrgId, id: string) =>
  trx
    .deleteFrom('webhook_endpoints')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

export const listSubscribedEndpoints = async (trx: Db, org: OrgId, eventType: string): Promise<string[]> => {
  const rows = await trx
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('organization_id', '=', org)
    .where('status', '=', 'active')
    .where(sql<boolean>`${eventType} = ANY(events)`)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** An endpoint and the URL that a request was sent to. By now, the endpoint may have a different URL. */
type EndpointAddress = { id: string; url: string }

export const updateHealth = (trx: Db, org: OrgId, { id, url }: EndpointAddress, accepted: boolean, now: Date) =>
  trx
    .updateTable('webhook_endpoints')
    .set({ failing_since: accepted ? null : now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('url', '=', url)
    // Most attempts change nothing in the endpoint, so they write nothing.
    .where('failing_since', accepted ? 'is not' : 'is', null)
    .execute()

type Disabling = {
  reason: DisabledReason
  now: Date
  /** The endpoint is only disabled if it has been failing since this time or longer. */
  failingSince?: Date
}

/** Disables an endpoint. Returns whether it was still active. */
export const disableEndpoint = async (trx: Db, org: OrgId, { id, url }: EndpointAddress, disabling: Disabling) => {
  const { reason, now, failingSince } = disabling
  const disabled = await trx
    .updateTable('webhook_endpoints')
    .set({ status: 'disabled', disabled_reason: reason, updated_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('url', '=', url)
    .where('status', '=', 'active')
    .$if(failingSince !== undefined, (query) => query.where('failing_since', '<=', failingSince as Date))
    .returning('id')
    .executeTakeFirst()
  return disabled !== undefined
}

/** Selects expired secrets, so that they can be deleted. */
export const replacedSecrets = dueRows({
  table: 'webhook_endpoints',
  isDue: (now) => sql`previous_secret_until <= ${now}`,
  change: sql`previous_secret = NULL, previous_secret_until = NULL`,
})
