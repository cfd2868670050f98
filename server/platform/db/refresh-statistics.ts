import { sql } from 'kysely'
import type { Db } from './database.ts'
import type { DB } from './tables.ts'

/** Lets the planner know how many rows a table has. Otherwise, it assumes for a while that there are almost none. */
export const refreshStatistics = async (db: Db, table: keyof DB): Promise<void> => {
  await sql`ANALYZE ${sql.table(table)}`.execute(db)
}
