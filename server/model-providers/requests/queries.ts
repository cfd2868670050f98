import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type RecentRequests = {
  /** The number of requests without an answer. */
  open: number
  requests: number
  tokens: number
  oldestStartedAt: Date | null
}

/**
 * Locks the provider, so that processes count its requests one after the other. Returns undefined if it was deleted.
 */
export const lockProviderRequests = (trx: Db, org: OrgId, providerId: string) =>
  trx
    .selectFrom('model_providers')
    .select(['status', 'updated_at as updatedAt'])
    .where('organization_id', '=', org)
    .where('id', '=', providerId)
    .forNoKeyUpdate()
    .executeTakeFirst()

/** Deletes requests that no longer count: those that started before `since`, unless they still wait for an answer. */
export const deletePastRequests = (
  trx: Db,
  org: OrgId,
  providerId: string,
  { since, now }: Record<'since' | 'now', Date>,
) =>
  trx
    .deleteFrom('model_provider_requests')
    .where('organization_id', '=', org)
    .where('provider_id', '=', providerId)
    .where('started_at', '<=', since)
    .where((where) => where.or([where('leased_until', 'is', null), where('leased_until', '<=', now)]))
    .execute()

export const countRecentRequests = async (
  trx: Db,
  org: OrgId,
  providerId: string,
  { since, now }: Record<'since' | 'now', Date>,
): Promise<RecentRequests> =>
  trx
    .selectFrom('model_provider_requests')
    .select([
      sql<number>`count(*) FILTER (WHERE leased_until > ${now}::timestamptz)`.as('open'),
      sql<number>`count(*) FILTER (WHERE started_at > ${since}::timestamptz)`.as('requests'),
      sql<number>`coalesce(sum(tokens) FILTER (WHERE started_at > ${since}::timestamptz), 0)::float8`.as('tokens'),
      sql<Date | null>`min(started_at) FILTER (WHERE started_at > ${since}::timestamptz)`.as('oldestStartedAt'),
    ])
    .where('organization_id', '=', org)
    .where('provider_id', '=', providerId)
    .executeTakeFirstOrThrow()

type NewRequest = { id: string; startedAt: Date; leasedUntil: Date; tokens: number }

export const insertRequest = (trx: Db, org: OrgId, providerId: string, request: NewRequest) =>
  trx
    .insertInto('model_provider_requests')
    .values({
      organization_id: org,
      provider_id: providerId,
      id: request.id,
      started_at: request.startedAt,
      leased_until: request.leasedUntil,
      tokens: request.tokens,
    })
    .execute()

/** Extends the lease of a request that still waits for its answer. */
export const renewRequest = (db: Db, org: OrgId, providerId: string, id: string, leasedUntil: Date) =>
  db
    .updateTable('model_provider_requests')
    .set({ leased_until: leasedUntil })
    .where('organization_id', '=', org)
    .where('provider_id', '=', providerId)
    .where('id', '=', id)
    .where('leased_until', 'is not', null)
    .execute()

/** Frees a request's slot. The request and the tokens that it used still count toward the minute in which it started. */
export const endRequest = (db: Db, org: OrgId, providerId: string, id: string, tokens: number) =>
  db
    .updateTable('model_provider_requests')
    .set({ leased_until: null, tokens })
    .where('organization_id', '=', org)
    .where('provider_id', '=', providerId)
    .where('id', '=', id)
    .execute()
