import pg from 'pg'
import { afterAll, expect } from 'vitest'
import { onPlainPostgres } from '../../../../test/citus.ts'
import { testDatabase } from '../../../../test/database.ts'
import { violatedConstraint } from '../errors.ts'
import { placement } from './placement.ts'

const { it } = onPlainPostgres('reads constraints before Citus adds its own')

const { connection, drop } = await testDatabase()
const client = new pg.Client(connection)
await client.connect()
afterAll(async () => {
  await client.end()
  await drop()
})

const select = async <T extends pg.QueryResultRow>(text: string): Promise<T[]> => (await client.query<T>(text)).rows

const distributed = Object.keys(placement).filter((table) => placement[table] === 'distributed')

it('lists every table of the migrations, and no other', async () => {
  const tables = await select<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  )
  expect(tables.map(({ name }) => name).sort()).toEqual(Object.keys(placement).sort())
})

it('starts each key of a distributed table with organization_id', async () => {
  const keys = await select<{ table: string; name: string; kind: string; first: string; target: string | null }>(
    `SELECT c.conrelid::regclass::text AS table, conname AS name, contype AS kind, a.attname AS first,
            CASE WHEN confrelid <> 0 THEN confrelid::regclass::text END AS target
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     WHERE c.connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'f')`,
  )
  expect(keys.length).toBeGreaterThan(distributed.length)
  const wrong = keys.filter(
    ({ table, first, target }) =>
      placement[table] === 'distributed' &&
      first !== 'organization_id' &&
      !(target !== null && placement[target] === 'reference'),
  )
  expect(wrong).toEqual([])
  const withPrimaryKey = keys.filter(({ kind }) => kind === 'p').map(({ table }) => table)
  expect(withPrimaryKey.sort()).toEqual(Object.keys(placement).sort())
})

it('has a tenant in each distributed table, never null and of one type, so that all are colocated', async () => {
  const columns = await select<{ table: string; type: string; required: boolean }>(
    `SELECT attrelid::regclass::text AS table, atttypid::regtype::text AS type, attnotnull AS required
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     WHERE c.relnamespace = 'public'::regnamespace AND attname = 'organization_id' AND NOT attisdropped`,
  )
  const sound = columns.flatMap(({ table, type, required }) => (type === 'uuid' && required ? [table] : []))
  expect(distributed.filter((table) => !sound.includes(table))).toEqual([])
  // Every write to a reference table happens on every node, so only few tables are reference tables: those that are
  // read before the organization is known.
  const copied = Object.keys(placement).filter((table) => placement[table] === 'reference')
  expect(copied.filter((table) => sound.includes(table)).sort()).toEqual(['api_keys', 'integrations'])
  expect(copied.length).toBeLessThan(12)
})

it('pairs tenant with tenant in each key between distributed tables', async () => {
  const pairs = await select<{ table: string; target: string; own: string; theirs: string }>(
    `SELECT conrelid::regclass::text AS table, confrelid::regclass::text AS target, a.attname AS own, b.attname AS theirs
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]
     WHERE c.connamespace = 'public'::regnamespace AND contype = 'f'`,
  )
  const between = pairs.filter(({ table, target }) => [table, target].every((one) => placement[one] === 'distributed'))
  expect(between.length).toBeGreaterThan(20)
  expect(between.filter(({ own, theirs }) => own !== 'organization_id' || theirs !== own)).toEqual([])
})

it('keeps the queue separate, on the coordinator', async () => {
  const across = await select(
    `SELECT conname FROM pg_constraint c JOIN pg_class t ON t.oid = c.confrelid
     WHERE contype = 'f' AND ('jobs'::regclass IN (c.conrelid, c.confrelid))`,
  )
  expect(across).toEqual([])
})

it('refers from a distributed table only to distributed and reference tables', async () => {
  const references = await select<{ table: string; target: string; onDelete: string }>(
    `SELECT conrelid::regclass::text AS table, confrelid::regclass::text AS target, confdeltype AS "onDelete"
     FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = 'f'`,
  )
  for (const { table, target, onDelete } of references) {
    const allowed = placement[table] === 'distributed' ? ['distributed', 'reference'] : [placement[table]]
    expect(allowed, `${table} refers to ${target}`).toContain(placement[target])
    // Neither "set null" nor "set default" works for a key that contains the organization.
    expect(['a', 'r', 'c'], `on delete of ${table} to ${target}`).toContain(onDelete)
  }
})

it('has unique indexes of distributed tables start with organization_id', async () => {
  const indexes = await select<{ table: string; name: string; first: string }>(
    `SELECT i.indrelid::regclass::text AS table, i.indexrelid::regclass::text AS name, a.attname AS first
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid AND t.relnamespace = 'public'::regnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indisunique`,
  )
  const wrong = indexes.filter(({ table, first }) => placement[table] === 'distributed' && first !== 'organization_id')
  expect(wrong).toEqual([])
})

it('has no trigger and no unnamed constraint', async () => {
  expect(await select(`SELECT tgname FROM pg_trigger WHERE NOT tgisinternal`)).toEqual([])
  const constraints = await select<{ name: string }>(
    `SELECT conname AS name FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'`,
  )
  for (const { name } of constraints) expect(name).toMatch(/_(pkey|key|fkey|check)$/)
})

it('recognizes a constraint by its name, whichever shard reports it', async () => {
  // The constraint has the name that it would have in shard 102060.
  await client.query('CREATE TEMP TABLE shard (name text CONSTRAINT shard_name_key_102060 UNIQUE)')
  await client.query(`INSERT INTO shard VALUES ('a')`)
  const error = await client.query(`INSERT INTO shard VALUES ('a')`).catch((thrown: unknown) => thrown)
  expect(violatedConstraint(error)).toBe('shard_name_key')
})
