import { sql } from 'kysely'
import type { Db } from './database.ts'
import type { DB } from './tables.ts'

/**
 * Updates the planner's statistics for a table. Otherwise, the planner assumes for a while that the table is almost
 * empty.
 */
export const refreshStatistics = async (db: Db, table: keyof DB): Promise<void> => {
  await sql`ANALYZE ${sql.table(table)}`.execute(db)
}
