// Reads everything that the database contains.
import { sql } from 'kysely'
import type { TestServer } from './server.ts'

const tablesOf = async ({ deps: { db } }: TestServer) => {
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    ORDER BY 1`.execute(db)
  return rows.map(({ name }) => `public.${name}`)
}

/** Returns each row of each table as `schema.table {…}`. */
export const storedRows = async (server: TestServer): Promise<string[]> => {
  const ofEach = (await tablesOf(server)).map(
    (name) => sql`SELECT ${`${name} `}::text || to_jsonb(t)::text AS row FROM ${sql.table(name)} t`,
  )
  const { rows } = await sql<{ row: string }>`
    SELECT row FROM (${sql.join(ofEach, sql` UNION ALL `)}) every ORDER BY row COLLATE "C"`.execute(server.deps.db)
  return rows.map(({ row }) => row)
}

/** Returns whether a rejected request may write the row: the last use of a key, or the use of a revoked key. */
const isNote = (row: string) =>
  row.startsWith('public.api_key_uses ') || (row.startsWith('public.audit_events ') && row.includes('"apiKey.refused"'))

/** Returns added and removed rows, except those that every request may write. */
export const changedRows = (before: string[], after: string[]): { came: string[]; went: string[] } => {
  const counted = (rows: string[]) => new Set(rows.filter((row) => !isNote(row)))
  const [old, present] = [counted(before), counted(after)]
  return { came: [...present].filter((row) => !old.has(row)), went: [...old].filter((row) => !present.has(row)) }
}
