// Distributes the tables over the nodes of a Citus cluster, according to placement.ts. Running it again is safe: tables
// that are placed correctly stay unchanged, and after a failure it continues with the others. A table is either placed
// completely, with its rows verified, or not at all.

import type pg from 'pg'
import { setDatabase } from '../session.ts'
import { ClusterError, hasCitus, lockPlacement, placingSettings, requireCitus, withClient } from './connection.ts'
import { isSame, readDigest } from './digests.ts'
import { addNodes, type ClusterNode } from './nodes.ts'
import {
  isRightKind,
  listPlaced,
  listReferences,
  type Placed,
  placingStatement,
  type Reference,
  tablesOfKind,
  tenantColumn,
} from './placed-tables.ts'
import { placement } from './placement.ts'

export type Statement = { table: string; text: string }

/** The progress, in bytes, for the tables that have to be placed. */
export type DistributionProgress = { table: string; doneBytes: number; totalBytes: number }

type Options = {
  /** Whether to only return the statements, which doesn't require Citus. */
  dryRun: boolean
  /** The nodes to add first, unless they already belong to the cluster. */
  nodes?: ClusterNode[]
  /** The number of shards for each table. By default, Citus creates 32. */
  shards?: number | undefined
  /** Called with each statement before it runs. */
  onStatement: (statement: Statement) => void
  onProgress?: (progress: DistributionProgress) => void
}

/** Sorts tables by name, but places each table after those that it refers to. */
const inOrder = (tables: string[], references: Reference[]): string[] => {
  const ordered: string[] = []
  const visit = (table: string, path: string[]): void => {
    if (ordered.includes(table)) return
    if (path.includes(table)) throw new ClusterError(`The tables ${path.join(', ')} have circular references.`)
    for (const reference of references) {
      if (reference.table === table && tables.includes(reference.target)) visit(reference.target, [...path, table])
    }
    ordered.push(table)
  }
  for (const table of tables.toSorted()) visit(table, [])
  return ordered
}

/** Throws if a table has a different placement, because only the person who placed it knows why. */
const requireFit = (placed: Placed[]): void => {
  for (const table of placed) {
    const { name, kind, column } = table
    const wanted = placement[name]
    if (wanted === undefined || (isRightKind(table) && (kind !== 'distributed' || column === tenantColumn))) continue
    throw new ClusterError(
      `${name} is a ${kind} table${kind === 'distributed' ? ` by ${column}` : ''}, and should be ${wanted}` +
        `${wanted === 'distributed' ? ` by ${tenantColumn}` : ''}. Undo that with undistribute_table('${name}'). Nothing was changed.`,
    )
  }
  const [first, ...others] = placed.filter(({ name }) => placement[name] === 'distributed')
  const apart = others.find(({ group }) => group !== first?.group)
  if (first && apart) {
    throw new ClusterError(
      `${first.name} and ${apart.name} are not colocated. Nothing was changed. Run undistribute_table('${first.name}') ` +
        `or undistribute_table('${apart.name}'), then try again.`,
    )
  }
}

/**
 * Returns statements that release tables from Citus's automatic management, because it can't distribute them otherwise.
 * Includes all tables that refer to them.
 */
const releasing = (placed: Placed[]): Statement[] => {
  const taken = placed.find((table) => table.kind === 'coordinator' && table.name in placement && !isRightKind(table))
  if (!taken) return []
  return [
    {
      table: taken.name,
      text: `SELECT undistribute_table('public.${taken.name}', cascade_via_foreign_keys => true)`,
    },
  ]
}

/**
 * Returns the remaining steps: first the reference tables, then the distributed tables, then those of the coordinator.
 */
export const planPlacing = (placed: Placed[], references: Reference[], shards?: number): Statement[] => {
  const done = new Set(placed.map(({ name }) => name))
  const distributed = inOrder(tablesOfKind('distributed'), references)
  const anchor = distributed.find((table) => done.has(table)) ?? distributed[0]
  const reference = inOrder(tablesOfKind('reference'), references)
  return [...reference, ...distributed, ...tablesOfKind('coordinator').toSorted()].flatMap((table) => {
    const text = placingStatement(table, table === anchor ? undefined : anchor, shards)
    return done.has(table) || text === undefined ? [] : [{ table, text }]
  })
}

/** Throws if a service is running. It would wait for each table, and its statements would wait for other nodes. */
const requireNobody = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ name: string; count: string }>(
    `SELECT application_name AS name, count(*) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
       AND application_name LIKE 'earshot%' AND application_name NOT LIKE 'earshot db %'
     GROUP BY 1 ORDER BY 1`,
  )
  if (rows.length === 0) return
  const who = rows.map(({ name, count }) => `${name} (${count})`).join(', ')
  throw new ClusterError(`Stop all processes of Earshot first. Connected: ${who}. Nothing was changed.`)
}

const sizesOf = async (client: pg.ClientBase, tables: string[]): Promise<Map<string, number>> => {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `SELECT relname AS name, pg_table_size(oid) AS bytes FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1)`,
    [tables],
  )
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}

const askEveryMs = 1_000

/** Reports the number of bytes copied to the nodes while a statement on another connection moves a table. */
const watchCopying = (watcher: pg.ClientBase, tell: (bytes: number) => void) => {
  let asking: Promise<void> | undefined
  const ask = async () => {
    const { rows } = await watcher.query<{ bytes: string }>(
      `SELECT coalesce(sum(result::bigint), 0) AS bytes FROM run_command_on_all_nodes(
         'SELECT coalesce(sum(bytes_processed), 0) FROM pg_stat_progress_copy WHERE datname = current_database()')
       WHERE success`,
    )
    tell(Number(rows[0]?.bytes ?? 0))
  }
  const timer = setInterval(() => {
    // The table is still placed if the progress is unknown.
    asking ??= ask()
      .catch(() => {})
      .finally(() => {
        asking = undefined
      })
  }, askEveryMs)
  return async () => {
    clearInterval(timer)
    await asking
  }
}

/** Places a table in one transaction, so that nothing changes unless every row is copied. */
const placeTable = async (client: pg.ClientBase, { table, text }: Statement): Promise<void> => {
  await client.query('BEGIN')
  try {
    await client.query(`LOCK TABLE public.${table} IN SHARE ROW EXCLUSIVE MODE`)
    const before = await readDigest(client, table)
    await client.query(text)
    const after = await readDigest(client, table)
    if (!isSame(before, after))
      throw new ClusterError(`the rows before (${before.rows}) and after (${after.rows}) differ`)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    const reason = error instanceof Error ? error.message : String(error)
    throw new ClusterError(
      `${table}: ${reason}. This table is unchanged, and the tables before it are done. Run the command again.`,
      {
        cause: error,
      },
    )
  }
}

const placeAll = async (
  client: pg.Client,
  watcher: pg.Client,
  statements: Statement[],
  { onStatement, onProgress }: Options,
): Promise<void> => {
  const sizes = await sizesOf(
    client,
    statements.map(({ table }) => table),
  )
  const totalBytes = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  let doneBytes = 0
  for (const statement of statements) {
    const bytes = sizes.get(statement.table) ?? 0
    const tell = (copied: number) =>
      onProgress?.({ table: statement.table, doneBytes: doneBytes + Math.min(bytes, copied), totalBytes })
    onStatement(statement)
    tell(0)
    const endWatch = watchCopying(watcher, tell)
    try {
      await placeTable(client, statement)
    } finally {
      await endWatch()
    }
    tell(bytes)
    doneBytes += bytes
  }
}

/** Removes rows that Citus has copied but left on the coordinator, where the placed table hides them. */
const clearCopied = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
     WHERE c.relnamespace = 'public'::regnamespace AND (p.partkey IS NOT NULL OR p.repmodel = 't')
       AND pg_relation_size(c.oid) > 0`,
  )
  const full = rows.map(({ name }) => name)
  for (const table of inOrder(full, await listReferences(client)).toReversed()) {
    await client.query('SELECT truncate_local_data_after_distributing_table($1::regclass)', [`public.${table}`])
  }
}

const dryRunOf = async (client: pg.Client, { shards, onStatement }: Options): Promise<number> => {
  const placed = (await hasCitus(client)) ? await listPlaced(client) : []
  const freed = releasing(placed)
  const unchanged = freed.length > 0 ? [] : placed
  requireFit(unchanged)
  const statements = [...freed, ...planPlacing(unchanged, await listReferences(client), shards)]
  for (const statement of statements) onStatement(statement)
  return statements.length
}

/** Distributes the tables. Returns the number of statements that ran, or would run. */
export const distribute = (connection: pg.ClientConfig, options: Options): Promise<number> =>
  withClient(connection, 'earshot db distribute', async (client) => {
    const { dryRun, nodes = [], shards, onStatement } = options
    if (dryRun) return dryRunOf(client, options)
    await lockPlacement(client)
    // Adding a node also creates the extension.
    if (nodes.length === 0) await requireCitus(client)
    await requireNobody(client)
    await addNodes(client, nodes)
    await setDatabase(client)
    for (const setting of placingSettings) await client.query(setting)
    const freed = releasing(await listPlaced(client))
    for (const statement of freed) {
      onStatement(statement)
      await client.query(statement.text)
    }
    const placed = await listPlaced(client)
    requireFit(placed)
    const statements = planPlacing(placed, await listReferences(client), shards)
    await withClient(connection, 'earshot db progress', (watcher) => placeAll(client, watcher, statements, options))
    await clearCopied(client)
    return freed.length + statements.length
  })
