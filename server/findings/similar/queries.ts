import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { RichText } from '../../rich-text/check.ts'

/** Longer descriptions are not compared. Their titles are. */
const longestDescription = 20_000

const comparedDescription = sql<RichText | null>`CASE WHEN length(description::text) <= ${sql.lit(longestDescription)}
  THEN description END`

/** Lists the newest findings that are open or acknowledged, with hashes of their texts. */
export const listOpenHashes = (db: Db, org: OrgId, limit: number) =>
  db
    .selectFrom('findings')
    .select(['id', sql<string>`md5(concat(title, E'\\n', ${comparedDescription}))`.as('hash')])
    .where('organization_id', '=', org)
    .where('status', 'in', ['open', 'acknowledged'])
    .where('merged_into_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Returns the texts of findings. */
export const listTexts = (db: Db, org: OrgId, ids: string[]) =>
  db
    .selectFrom('findings')
    .select(['id', 'title', comparedDescription.as('description')])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
