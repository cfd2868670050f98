import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/database.ts'
import { distribute, type Statement } from './distribute.ts'
import { placement } from './placement.ts'

// Citus is no part of the embedded PostgreSQL. What is called here has the names and signatures of its functions, and
// refuses what it refuses about keys, but moves nothing.

let database: TestDatabase
let client: pg.Client

beforeEach(async () => {
  database = await testDatabase()
  client = new pg.Client(database.connection)
  await client.connect()
})

afterEach(async () => {
  await client.end()
  await database.drop()
})

const standIn = `
  CREATE TABLE citus_tables (
    table_name regclass PRIMARY KEY, citus_table_type text NOT NULL, distribution_column text, colocation_id integer
  );
  CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = table_name AND contype = 'f' AND confrelid <> table_name
                 AND confrelid NOT IN (SELECT t.table_name FROM citus_tables t WHERE citus_table_type = 'reference'))
      THEN RAISE 'a foreign key of % leads to no reference table', table_name; END IF;
      INSERT INTO citus_tables VALUES (table_name, 'reference', NULL, 0);
    END $$;
  CREATE FUNCTION create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
    colocate_with text DEFAULT 'default', shard_count integer DEFAULT NULL
  ) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE place integer;
    BEGIN
      IF colocate_with = 'none' THEN SELECT coalesce(max(colocation_id), 0) + 1 INTO place FROM citus_tables;
      ELSE SELECT colocation_id INTO STRICT place FROM citus_tables t
           WHERE t.table_name = colocate_with::regclass AND citus_table_type = 'distributed'; END IF;
      IF EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = indrelid AND a.attname = distribution_column
                 WHERE indrelid = table_name AND indisunique AND NOT a.attnum = ANY (indkey))
      THEN RAISE 'a unique index of % lacks its column', table_name; END IF;
      IF EXISTS (SELECT FROM pg_constraint LEFT JOIN citus_tables t ON t.table_name = confrelid
                 WHERE conrelid = create_distributed_table.table_name AND contype = 'f' AND confrelid <> conrelid
                 AND citus_table_type IS DISTINCT FROM 'reference' AND t.colocation_id IS DISTINCT FROM place)
      THEN RAISE 'a foreign key of % leads to another place', table_name; END IF;
      INSERT INTO citus_tables VALUES (table_name, 'distributed', distribution_column, place);
    END $$;
  SET allow_system_table_mods = on;
  INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  VALUES (99999, 'citus', 10, 'pg_catalog'::regnamespace, false, '13.0');`

const run = async (dryRun = false) => {
  const told: Statement[] = []
  const count = await distribute(database.connection, { dryRun, onStatement: (statement) => told.push(statement) })
  expect(told.length).toBe(count)
  return told
}

const listPlaced = async () => {
  const { rows } = await client.query<{ name: string; kind: string; column: string | null; place: number }>(
    `SELECT table_name::text AS name, citus_table_type AS kind, distribution_column AS column, colocation_id AS place
     FROM citus_tables`,
  )
  return rows
}

const placeable = Object.keys(placement).filter((table) => placement[table] !== 'local')

it('places every table in an order that its keys allow, side by side, and once', async () => {
  await client.query(standIn)
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name')
  await client.query(`ALTER DATABASE ${rows[0]?.name} SET search_path = elsewhere`)
  expect((await run(true)).map(({ table }) => table).sort()).toEqual(placeable.sort())
  expect(await listPlaced()).toEqual([])
  await run()
  const placed = await listPlaced()
  expect(Object.fromEntries(placed.map(({ name, kind }) => [name, kind]))).toEqual(
    Object.fromEntries(placeable.map((table) => [table, placement[table]])),
  )
  const distributed = placed.filter(({ kind }) => kind === 'distributed')
  expect(new Set(distributed.map(({ column, place }) => `${column} ${place}`))).toEqual(new Set(['organization_id 1']))
  expect(await run()).toEqual([])
})

it('goes on after a failure, beside what is placed already', async () => {
  await client.query(standIn)
  await client.query(`ALTER TABLE citus_tables ADD CONSTRAINT later CHECK (table_name <> 'monitors'::regclass)`)
  await expect(run()).rejects.toThrow(/^monitors: .*What came before it is done; run this again\.$/)
  const before = (await listPlaced()).length
  expect(before).toBeGreaterThan(10)
  await client.query('ALTER TABLE citus_tables DROP CONSTRAINT later')
  expect((await run()).length).toBe(placeable.length - before)
  const places = (await listPlaced()).flatMap(({ kind, place }) => (kind === 'distributed' ? [place] : []))
  expect(new Set(places).size).toBe(1)
})

it('refuses a table that lies elsewhere, and changes nothing', async () => {
  await client.query(standIn)
  await client.query(`INSERT INTO citus_tables VALUES ('organizations', 'distributed', 'id', 7)`)
  await expect(run()).rejects.toThrow('organizations is a distributed table by id, and should be reference.')
  expect(await listPlaced()).toHaveLength(1)
})

it('refuses tables that lie apart, and changes nothing', async () => {
  await client.query(standIn)
  await client.query(`INSERT INTO citus_tables VALUES ('agents', 'distributed', 'organization_id', 7),
    ('monitors', 'distributed', 'organization_id', 8)`)
  await expect(run()).rejects.toThrow(/^agents and monitors do not lie side by side\. .*Nothing was changed\.$/)
  expect(await listPlaced()).toHaveLength(2)
})

it('says what is missing where there is no Citus, and still tells what it would do', async () => {
  await expect(run()).rejects.toThrow('The database has no Citus.')
  const [first] = await run(true)
  expect(first?.text).toBe("SELECT create_reference_table('public.users')")
})
