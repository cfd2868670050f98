import { sql } from 'kysely'
import type { Db } from './database.ts'

/** Stores the current size of the database for today, and deletes sizes that are a year old. */
export const storeDatabaseSize = async (db: Db): Promise<void> => {
  await sql`
    INSERT INTO database_sizes (day, bytes) VALUES (current_date, pg_database_size(current_database()))
    ON CONFLICT ON CONSTRAINT database_sizes_pkey DO UPDATE SET bytes = excluded.bytes`.execute(db)
  await sql`DELETE FROM database_sizes WHERE day < current_date - 366`.execute(db)
}

export type DatabaseSize = { bytes: number; addedBytes: number | null; days: number | null }

/** Returns the current size and its growth in the last week, or since recording began if that was more recent. */
export const readDatabaseSize = async (db: Db): Promise<DatabaseSize> => {
  const { rows } = await sql<DatabaseSize>`
    SELECT now.bytes, now.bytes - past.bytes AS "addedBytes", current_date - past.day AS days
    FROM (SELECT pg_database_size(current_database()) AS bytes) now
    LEFT JOIN (
      SELECT day, bytes FROM database_sizes WHERE day >= current_date - 7 AND day < current_date ORDER BY day LIMIT 1
    ) past ON true`.execute(db)
  return rows[0] ?? { bytes: 0, addedBytes: null, days: null }
}

/** Returns how many milliseconds this machine's clock is ahead of the database's clock. */
export const measureClockSkew = async (db: Db): Promise<number> => {
  const before = Date.now()
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp()::timestamptz(3) AS now`.execute(db)
  return Math.round((before + Date.now()) / 2 - (rows[0]?.now.getTime() ?? before))
}

/** Lists the processes that are connected to the database, using the names of their notification connections. */
const listConnectedProcesses = async (db: Db, pattern: string): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    SELECT application_name AS name FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE ${pattern} ORDER BY 1`.execute(db)
  return rows.map(({ name }) => name)
}

/** Parses the version and roles from the name of a process's notification connection. */
const readProcessName = (name: string): { version: string; roles: string } | undefined => {
  const [, version, roles] = / v(\S+) (\S+) notices$/.exec(name) ?? []
  return version === undefined || roles === undefined ? undefined : { version, roles }
}

export const listProcesses = async (db: Db) =>
  (await listConnectedProcesses(db, '% notices')).flatMap((name) => readProcessName(name) ?? [])

/** Returns whether all connected processes have the same version, which is not the case during an upgrade. */
export const runsOneVersion = async (db: Db): Promise<boolean> =>
  new Set((await listProcesses(db)).map(({ version }) => version)).size <= 1

/** Returns whether the database has only one organization. */
export const hasOneOrganization = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('organizations').select('id').limit(2).execute()).length === 1
