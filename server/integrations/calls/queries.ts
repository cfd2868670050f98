import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

/** Finds stored calls by the IDs that their senders gave them. */
export const listStoredCalls = (db: Db, org: OrgId, externalIds: string[]) =>
  db
    .selectFrom('conversations as c')
    .select([
      'c.external_id as externalId',
      'c.started_at as startedAt',
      sql<'in_progress' | 'completed' | 'failed'>`c.status`.as('status'),
      sql<boolean>`EXISTS (
        SELECT FROM transcripts t WHERE t.organization_id = ${org} AND t.conversation_id = c.id)`.as('hasTranscript'),
    ])
    .where('c.organization_id', '=', org)
    .where('c.external_id', '=', sql<string>`ANY(${externalIds}::text[])`)
    .execute()
