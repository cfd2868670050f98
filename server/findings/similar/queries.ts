import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { RichText } from '../../rich-text/check.ts'

/** Longer descriptions are not compared. Their titles are. */
const longestDescription = 20_000

/** Lists the texts of the newest findings that are open or acknowledged. */
export const listOpenTexts = (db: Db, org: OrgId, limit: number) =>
  db
    .selectFrom('findings')
    .select([
      'id',
      'title',
      sql<RichText | null>`CASE WHEN length(description::text) <= ${longestDescription} THEN description END`.as(
        'description',
      ),
    ])
    .where('organization_id', '=', org)
    .where('status', 'in', ['open', 'acknowledged'])
    .where('merged_into_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
