// Calculates a fingerprint of a table's rows in two numbers, regardless of where the rows are.

import type pg from 'pg'

export type Digest = { rows: string; sum: string }

/**
 * Selects the columns as values that are the same on all nodes. The types in this schema have different OIDs on each
 * node, and their binary format contains the OID.
 */
const columnsSql = `
  SELECT quote_ident(a.attname) ||
         CASE WHEN coalesce(e.typnamespace, t.typnamespace) = 'public'::regnamespace THEN '::text' ELSE '' END AS text
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
  WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attname`

export const readDigest = async (client: pg.ClientBase, table: string): Promise<Digest> => {
  const columns = await client.query<{ text: string }>(columnsSql, [`public.${table}`])
  const row = columns.rows.map(({ text }) => text).join(', ')
  // The sum of 60 bits of each row's digest does not depend on the order of rows.
  const { rows } = await client.query<Digest>(
    `SELECT count(*)::text AS rows,
            coalesce(sum(('x' || left(md5(record_send(ROW(${row}))), 15))::bit(60)::bigint), 0)::text AS sum
     FROM public.${table}`,
  )
  return rows[0] as Digest
}

export const isSame = (a: Digest, b: Digest): boolean => a.rows === b.rows && a.sum === b.sum
