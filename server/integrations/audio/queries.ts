import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Page } from '../../platform/http/paging.ts'

type File = { blobKey: string; contentType: string; bytes: number }

/**
 * Returns the number and total size of the organization's waiting recordings, and whether this call already has one.
 */
export const findWaiting = async (db: Db, org: OrgId, externalId: string) => {
  const { rows } = await sql<{ count: number; bytes: number; isWaiting: boolean }>`
    SELECT count(*)::int AS count, coalesce(sum(bytes), 0)::float8 AS bytes,
      coalesce(bool_or(external_id = ${externalId}), false) AS "isWaiting"
    FROM waiting_recordings WHERE organization_id = ${org}`.execute(db)
  return rows[0] ?? { count: 0, bytes: 0, isWaiting: false }
}

type NewWaiting = { externalId: string; integrationId: string; deliveryId: string; file: File }

/**
 * Stores a waiting recording unless the call already has one. The recording waits for a day, measured by the database's
 * clock.
 */
export const insertWaiting = async (trx: Db, org: OrgId, waiting: NewWaiting): Promise<boolean> => {
  const { externalId, integrationId, deliveryId, file } = waiting
  const inserted = await trx
    .insertInto('waiting_recordings')
    .values({
      organization_id: org,
      external_id: externalId,
      integration_id: integrationId,
      delivery_id: deliveryId,
      blob_key: file.blobKey,
      content_type: file.contentType,
      bytes: file.bytes,
      expires_at: sql`now() + interval '1 day'`,
    })
    .onConflict((conflict) => conflict.constraint('waiting_recordings_pkey').doNothing())
    .returning('external_id')
    .executeTakeFirst()
  return inserted !== undefined
}

const deleteWaiting = async (trx: Db, org: OrgId, only: RawBuilder<boolean>) => {
  const deleted = await trx
    .deleteFrom('waiting_recordings')
    .where('organization_id', '=', org)
    .where(only)
    .returning(['delivery_id as deliveryId', 'blob_key as blobKey', 'content_type as contentType', 'bytes'])
    .execute()
  return deleted.map(({ deliveryId, bytes, ...file }) => ({ deliveryId, file: { ...file, bytes: Number(bytes) } }))
}

export const takeWaiting = (trx: Db, org: OrgId, externalIds: string[]) =>
  deleteWaiting(trx, org, sql`external_id = ANY(${externalIds}::text[])`)

export const takeExpired = (trx: Db, org: OrgId, externalId: string, now: Date) =>
  deleteWaiting(trx, org, sql`external_id = ${externalId} AND expires_at <= ${now}`)

export const takeWaitingOf = (trx: Db, org: OrgId, integrationId: string) =>
  deleteWaiting(trx, org, sql`integration_id = ${integrationId}`)

/** Selects recordings that belong to an existing conversation, or have waited long enough. */
const due = (org: OrgId | RawBuilder<OrgId>, now: Date) => sql<boolean>`(w.expires_at <= ${now} OR EXISTS (
  SELECT FROM conversations c WHERE c.organization_id = ${org} AND c.external_id = w.external_id))`

export const listDueOrganizationsAllOrgs = async (db: Db, now: Date): Promise<{ id: OrgId }[]> => {
  const { rows } = await sql<{ id: OrgId }>`
    SELECT DISTINCT w.organization_id AS id FROM waiting_recordings w WHERE ${due(sql`w.organization_id`, now)}`.execute(
    db,
  )
  return rows
}

export const listDue = async (db: Db, org: OrgId, now: Date, page: Page): Promise<{ id: string }[]> => {
  const { rows } = await sql<{ id: string }>`
    SELECT w.external_id AS id FROM waiting_recordings w
    WHERE w.organization_id = ${org} AND w.external_id > ${page.after ?? ''} AND ${due(org, now)}
    ORDER BY w.external_id LIMIT ${page.limit}`.execute(db)
  return rows
}
