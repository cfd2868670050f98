import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

export type Kind = 'email' | 'slack' | 'teams' | 'pagerduty' | 'opsgenie' | 'webhook'

/** The settings in the API's format. Their properties depend on the kind. */
export type DestinationSettings = Record<string, unknown>

type Status = 'active' | 'disabled'

const columns = [
  'id',
  'name',
  sql<Kind>`kind`.as('kind'),
  sql<DestinationSettings>`settings`.as('settings'),
  sql<Status>`status`.as('status'),
  'failing_since as failingSince',
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

const sealedColumns = [...columns, 'secret'] as const

export const listDestinations = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('destinations')
    .select(columns)
    .where('organization_id', '=', org)
    .$call(newestFirst('id', page))
    .execute()

export const getDestination = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('destinations')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

/** Returns the destination with its sealed secret, which never leaves the service. */
export const findSealedDestination = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('destinations')
    .select(sealedColumns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirst()

export const lockDestination = (trx: Db, org: OrgId, id: string) =>
  trx
    .selectFrom('destinations')
    .select(sealedColumns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

/** Counts the destinations. Until the transaction ends, no other transaction can add one. */
export const lockDestinationCount = async (trx: Db, org: OrgId): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('destinations of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('destinations')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  return count
}

type NewDestination = {
  id: string
  name: string
  kind: Kind
  settings: DestinationSettings
  /** The encrypted secret. */
  secret: string | null
  createdByUserId: string
  now: Date
}

export const insertDestination = (trx: Db, org: OrgId, destination: NewDestination) => {
  const { id, name, kind, settings, secret, createdByUserId, now } = destination
  return trx
    .insertInto('destinations')
    .values({
      organization_id: org,
      id,
      name,
      kind,
      settings: JSON.stringify(settings),
      secret,
      created_by_user_id: createdByUserId,
      created_at: now,
      updated_at: now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

type DestinationChange = {
  name?: string | undefined
  settings?: { shown: DestinationSettings; secret: string | null } | undefined
  status?: Status | undefined
  failingSince?: null
}

export const updateDestination = (trx: Db, org: OrgId, id: string, change: DestinationChange, now: Date) => {
  const { name, settings, status, failingSince } = change
  return trx
    .updateTable('destinations')
    .set({
      ...(name !== undefined && { name }),
      ...(settings !== undefined && { settings: JSON.stringify(settings.shown), secret: settings.secret }),
      ...(status !== undefined && { status }),
      ...(failingSince !== undefined && { failing_since: failingSince }),
      updated_at: now,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)
}

export const deleteDestination = (trx: Db, org: OrgId, id: string) =>
  trx
    .deleteFrom('destinations')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

/** Records when deliveries started to fail. Most deliveries don't change this, so they write nothing. */
export const updateDestinationHealth = (trx: Db, org: OrgId, id: string, succeeded: boolean, now: Date) =>
  trx
    .updateTable('destinations')
    .set({ failing_since: succeeded ? null : now })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('failing_since', succeeded ? 'is not' : 'is', null)
    .execute()

/** Returns the email addresses of those users who are active members. */
export const listMemberAddresses = async (db: Db, org: OrgId, memberIds: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.email')
    .where('members.organization_id', '=', org)
    .where('members.id', '=', sql<string>`ANY(${memberIds}::uuid[])`)
    .where('members.joined_at', 'is not', null)
    .execute()
  return rows.map(({ email }) => email)
}

/** Returns which of these IDs are members. */
export const findMemberIds = async (db: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('members')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the webhook endpoints of the active destinations among these. */
export const listWebhookEndpointIds = async (db: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('destinations')
    .select(sql<string>`settings ->> 'endpointId'`.as('endpointId'))
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('kind', '=', 'webhook')
    .where('status', '=', 'active')
    .execute()
  return rows.map(({ endpointId }) => endpointId.toLowerCase())
}

/** Returns which of these IDs are destinations. */
export const findDestinationIds = async (db: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('destinations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return rows.map(({ id }) => id)
}
