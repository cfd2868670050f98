// Returns how PostgreSQL runs statements on a separate database. The first import also sets how numbers and times of
// the database are parsed.
import '../server/platform/db/database.ts'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll } from 'vitest'
import type { Db } from '../server/platform/db/database.ts'
import { planning, type SessionSettings, setSession } from '../server/platform/db/session.ts'
import type { DB } from '../server/platform/db/tables.ts'
import { testDatabase } from './database.ts'

export type QueryPlan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: QueryPlan[]
}

const nodesOf = (plan: QueryPlan): QueryPlan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

export const openPlans = async (settings: SessionSettings = {}) => {
  const { connection, drop } = await testDatabase()
  const pool = new pg.Pool({
    ...connection,
    max: 1,
    onConnect: (client) => setSession(client, { ...planning, ...settings }),
  })
  // Dropping the database may end a connection that the pool has not closed yet, which causes an error event.
  pool.on('error', () => {})
  const executed: { sql: string; parameters: readonly unknown[] }[] = []
  const log = ({ query }: { query: (typeof executed)[number] }) => void executed.push(query)
  const db: Db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), log })
  afterAll(async () => {
    await db.destroy()
    await drop()
  })

  /** Runs the statements that `run` sends again, and returns their plans and how many pages they read. */
  const explain = async <T>(run: () => Promise<T>) => {
    executed.length = 0
    const answer = await run()
    const plans: QueryPlan[] = []
    for (const { sql, parameters } of [...executed]) {
      const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, [...parameters])
      plans.push(rows[0]['QUERY PLAN'][0].Plan)
    }
    const pages = plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0)
    return { answer, statements: plans.length, pages, nodes: plans.flatMap(nodesOf) }
  }

  /**
   * Loads tables as a restored dump does: builds their indexes once at the end, and does not check foreign keys for each
   * row.
   */
  const load = async (tables: string[], statements: string[]): Promise<void> => {
    const loaded = `(${tables.map((table) => `'${table}'::regclass`).join(', ')})`
    const { rows: indexes } = await pool.query<{ name: string; definition: string }>(`
      SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
      WHERE indrelid IN ${loaded} AND NOT indisunique`)
    const { rows: keys } = await pool.query<{ table: string; name: string; definition: string }>(`
      SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
      FROM pg_constraint WHERE contype = 'f' AND conrelid IN ${loaded}`)
    for (const { name } of indexes) await pool.query(`DROP INDEX ${name}`)
    for (const { table, name } of keys) await pool.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
    for (const statement of statements) await pool.query(statement)
    for (const { definition } of indexes) await pool.query(definition)
    for (const { table, name, definition } of keys) {
      await pool.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition} NOT VALID`)
    }
    await pool.query('VACUUM ANALYZE')
  }

  return { connection, pool, db, explain, load }
}
