// Spreads the tables over the nodes of a Citus cluster, as placement.ts says. Safe to run again: what is spread already
// is left as it is, and after a failure the rest follows.

import pg from 'pg'
import { placement } from './placement.ts'

export type Statement = { table: string; text: string }

type Placed = { name: string; kind: string; column: string | null; group: number }
type Reference = { table: string; target: string }

class DistributionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DistributionError'
  }
}

const key = 'organization_id'

/**
 * With the first setting on, Citus takes every table that refers to a reference table under its own management, and then
 * refuses to distribute any of them. The second keeps statements about tables of both kinds on one connection to a node.
 */
const placingSettings = [
  'SET citus.enable_local_reference_table_foreign_keys = off',
  "SET citus.multi_shard_modify_mode = 'sequential'",
]

const referencesSql = `
  SELECT t.relname AS table, f.relname AS target
  FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid
  WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND c.conparentid = 0 AND c.conrelid <> c.confrelid
  ORDER BY 1, 2`

// Not shown there: tables that Citus manages and keeps on the coordinator.
const placedSql = `
  SELECT c.relname AS name, t.citus_table_type AS kind, t.distribution_column AS column, t.colocation_id AS "group"
  FROM citus_tables t JOIN pg_class c ON c.oid = t.table_name
  WHERE c.relnamespace = 'public'::regnamespace AND t.citus_table_type IN ('distributed', 'reference')
  ORDER BY 1`

/** Each after those that it refers to, otherwise by name. */
const inOrder = (tables: string[], references: Reference[]): string[] => {
  const ordered: string[] = []
  const visit = (table: string, path: string[]): void => {
    if (ordered.includes(table)) return
    if (path.includes(table))
      throw new DistributionError(`The tables ${path.join(', ')} refer to each other in a circle.`)
    for (const reference of references) {
      if (reference.table === table && tables.includes(reference.target)) visit(reference.target, [...path, table])
    }
    ordered.push(table)
  }
  for (const table of tables.toSorted()) visit(table, [])
  return ordered
}

const tablesThatAre = (kind: 'distributed' | 'reference') =>
  Object.keys(placement).filter((table) => placement[table] === kind)

/** Refuses where somebody has placed a table otherwise: Citus would have to move it back first. */
const requireFit = (placed: Placed[]): void => {
  for (const { name, kind, column } of placed) {
    const wanted = placement[name]
    if (wanted === undefined || (wanted === kind && (kind === 'reference' || column === key))) continue
    throw new DistributionError(
      `${name} is a ${kind} table${kind === 'distributed' ? ` by ${column}` : ''}, and should be ${wanted}` +
        `${wanted === 'distributed' ? ` by ${key}` : ''}. Undo that with undistribute_table('${name}'). Nothing was changed.`,
    )
  }
  const [first, ...others] = placed.filter(({ name }) => placement[name] === 'distributed')
  const apart = others.find(({ group }) => group !== first?.group)
  if (first && apart) {
    throw new DistributionError(
      `${first.name} and ${apart.name} do not lie side by side. Undo that with undistribute_table('${first.name}') or ` +
        `undistribute_table('${apart.name}'). Nothing was changed.`,
    )
  }
}

/** What is left to do: reference tables first, then the distributed ones side by side on the same nodes. */
const plan = (placed: Placed[], references: Reference[]): Statement[] => {
  const done = new Set(placed.map(({ name }) => name))
  const first = inOrder(tablesThatAre('reference'), references).map((table) => ({
    table,
    text: `SELECT create_reference_table('public.${table}')`,
  }))
  const distributed = inOrder(tablesThatAre('distributed'), references)
  const anchor = distributed.find((table) => done.has(table)) ?? distributed[0]
  const second = distributed.map((table) => ({
    table,
    text: `SELECT create_distributed_table('public.${table}', '${key}', colocate_with => '${table === anchor ? 'none' : `public.${anchor}`}')`,
  }))
  return [...first, ...second].filter(({ table }) => !done.has(table))
}

const hasCitus = async (client: pg.Client): Promise<boolean> =>
  (await client.query("SELECT FROM pg_extension WHERE extname = 'citus'")).rowCount === 1

type Options = {
  /** Only tells the statements; Citus need not be there. */
  dryRun: boolean
  /** Told of each statement before it runs. */
  onStatement: (statement: Statement) => void
}

/** How many statements were run, or would be. */
export const distribute = async (connection: pg.ClientConfig, { dryRun, onStatement }: Options): Promise<number> => {
  const client = new pg.Client({
    ...connection,
    application_name: 'earshot db distribute',
    options: '-c TimeZone=UTC -c statement_timeout=0 -c lock_timeout=0',
  })
  client.on('error', () => {})
  await client.connect()
  try {
    // Where the migrations put the tables, and Citus its view.
    await client.query('SET search_path = public')
    const isThere = await hasCitus(client)
    if (!isThere && !dryRun) {
      throw new DistributionError(
        'The database has no Citus. Install it on every node, add citus to shared_preload_libraries, restart, and run ' +
          'CREATE EXTENSION citus in this database. Nothing was changed.',
      )
    }
    if (!dryRun) {
      for (const setting of placingSettings) await client.query(setting)
      // One at a time: a second call waits, and finds nothing left to do.
      await client.query("SELECT pg_advisory_lock(hashtextextended('earshot.db.distribute', 0))")
    }
    const placed = isThere ? (await client.query<Placed>(placedSql)).rows : []
    requireFit(placed)
    const statements = plan(placed, (await client.query<Reference>(referencesSql)).rows)
    for (const statement of statements) {
      onStatement(statement)
      if (dryRun) continue
      // Each commits by itself: in one transaction Citus would have to do all of it over one connection to each node.
      await client.query(statement.text).catch((error: Error) => {
        throw new DistributionError(
          `${statement.table}: ${error.message}. What came before it is done; run this again.`,
          {
            cause: error,
          },
        )
      })
    }
    return statements.length
  } finally {
    await client.end().catch(() => {})
  }
}
