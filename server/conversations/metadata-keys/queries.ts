import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { plannedEachTime } from '../../platform/db/naming-client.ts'

type Sample = { prefix: string; sampled: number; limit: number }

const newest = (org: OrgId, sampled: number) => sql`(
  SELECT c.metadata FROM conversations c WHERE c.organization_id = ${org}
  ORDER BY c.started_at DESC, c.id DESC LIMIT ${sql.lit(sampled)}) newest`

const eachTime = sql.raw(plannedEachTime)

/** Lists the most frequent keys in the newest conversations. Null values count as missing. */
export const listMetadataKeys = async (db: Db, org: OrgId, { prefix, sampled, limit }: Sample) => {
  const { rows } = await sql<{ key: string; count: number }>`
    SELECT entry.key, count(*) AS count FROM ${newest(org, sampled)}, jsonb_each(newest.metadata) entry
    WHERE starts_with(lower(entry.key), lower(${prefix}::text)) AND jsonb_typeof(entry.value) <> 'null'
    GROUP BY entry.key ORDER BY count(*) DESC, entry.key COLLATE "C" LIMIT ${sql.lit(limit)} ${eachTime}`.execute(db)
  return rows
}

/** Conditions can't contain longer values. */
const longestValue = 500

/** Returns the most frequent values for a key, or undefined if none of the newest conversations have the key. */
export const findMetadataValues = async (db: Db, org: OrgId, key: string, { prefix, sampled, limit }: Sample) => {
  const { rows } = await sql<{ value: string | null; count: number }>`
    SELECT found.value, count(*) AS count FROM (
      SELECT CASE WHEN held.type IN ('string', 'number', 'boolean') AND length(held.text) <= ${sql.lit(longestValue)}
        AND starts_with(lower(held.text), lower(${prefix}::text)) THEN held.text END AS value
      FROM ${newest(org, sampled)}, LATERAL (
        SELECT jsonb_typeof(newest.metadata -> ${key}::text) AS type, newest.metadata ->> ${key}::text AS text) held
      WHERE held.type <> 'null') found
    GROUP BY found.value ORDER BY found.value IS NULL, count(*) DESC, found.value COLLATE "C"
    LIMIT ${sql.lit(limit)} ${eachTime}`.execute(db)
  if (rows.length === 0) return undefined
  return rows.flatMap(({ value, count }) => (value === null ? [] : { value, count }))
}
