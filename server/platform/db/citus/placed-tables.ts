// Reads the placement of tables from Citus, and builds the statements that distribute them.

import type pg from 'pg'
import type { Queryable } from '../database.ts'
import { hasCitus } from './connection.ts'
import { type Placement, placement } from './placement.ts'

export const tenantColumn = 'organization_id'

export type Placed = {
  name: string
  kind: Exclude<Placement, 'local'>
  column: string | null
  group: number
}

/**
 * Returns whether a table is placed correctly. If a foreign key requires it, Citus itself manages a local table, which
 * does no harm.
 */
export const isRightKind = ({ name, kind }: Placed): boolean =>
  kind === placement[name] || (kind === 'coordinator' && placement[name] === 'local')

/** A foreign key from one table to another. */
export type Reference = { table: string; target: string }

export const tablesOfKind = (kind: Exclude<Placement, 'local'>): string[] =>
  Object.keys(placement).filter((table) => placement[table] === kind)

/** Lists the tables that Citus manages. Does not contact other nodes. */
export const listPlaced = async (client: Queryable): Promise<Placed[]> => {
  const { rows } = await client.query<Placed>(
    `SELECT c.relname AS name, p.colocationid AS "group",
            CASE WHEN p.partkey IS NOT NULL THEN 'distributed' WHEN p.repmodel = 't' THEN 'reference' ELSE 'coordinator' END AS kind,
            CASE WHEN p.partkey IS NOT NULL THEN column_to_column_name(p.logicalrelid, p.partkey) END AS column
     FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
     WHERE c.relnamespace = 'public'::regnamespace
     ORDER BY 1`,
  )
  return rows
}

export const listReferences = async (client: pg.ClientBase): Promise<Reference[]> => {
  const { rows } = await client.query<Reference>(
    `SELECT t.relname AS table, f.relname AS target
     FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid
     WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND c.conparentid = 0 AND c.conrelid <> c.confrelid
     ORDER BY 1, 2`,
  )
  return rows
}

/**
 * Returns the statement that places a table next to `anchor`, or as the first distributed table. Returns undefined for
 * a local table.
 */
export const placingStatement = (table: string, anchor?: string, shards?: number): string | undefined => {
  const kind = placement[table]
  if (kind === 'reference') return `SELECT create_reference_table('public.${table}')`
  if (kind === 'coordinator') return `SELECT citus_add_local_table_to_metadata('public.${table}')`
  if (kind !== 'distributed') return undefined
  const beside =
    anchor !== undefined
      ? `colocate_with => 'public.${anchor}'`
      : `colocate_with => 'none'${shards === undefined ? '' : `, shard_count => ${shards}`}`
  return `SELECT create_distributed_table('public.${table}', '${tenantColumn}', ${beside})`
}

/** Returns whether the tables of this database are distributed over several nodes. */
export const isDistributed = async (client: Queryable): Promise<boolean> =>
  (await hasCitus(client)) && (await listPlaced(client)).some(({ kind }) => kind === 'distributed')
