import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, it } from 'vitest'
import { testDatabase } from '../../../../test/database.ts'
import { openLog } from '../../log.ts'
import { dumpSchema } from '../dump.ts'
import { migrate } from '../migrate.ts'
import { readNewTable, splitChanges, splitStatements } from './statements.ts'

it('finds the end of a statement next to quotes, comments, and bodies with semicolons', () => {
  const text = `-- One; of these.
    INSERT INTO a VALUES ('it''s; fine', E'\\';', "b;c"); /* and; this */
    DO $$ BEGIN PERFORM 1; END $$;
    DO $body$ SELECT '$$;' $body$ ;
    SELECT name';' FROM a -- the last; one`
  expect(splitStatements(text)).toEqual([
    `INSERT INTO a VALUES ('it''s; fine', E'\\';', "b;c")`,
    'DO $$ BEGIN PERFORM 1; END $$',
    `DO $body$ SELECT '$$;' $body$`,
    `SELECT name';' FROM a -- the last; one`,
  ])
  expect(splitStatements(' -- nothing\n ; ')).toEqual([])
})

it('separates foreign keys from a new table', () => {
  const statement = `CREATE TABLE agents (
    organization_id uuid NOT NULL, -- whose, of all
    id uuid NOT NULL,
    CONSTRAINT agents_pkey PRIMARY KEY (organization_id, id),
    CONSTRAINT agents_organization_fkey FOREIGN KEY (organization_id)
      REFERENCES organizations (id),
    CONSTRAINT agents_kind_check CHECK (id::text <> ',)') -- never
  )`
  const made = readNewTable(statement)
  expect(made?.table).toBe('agents')
  expect(made?.create).not.toContain('FOREIGN KEY')
  expect(made?.foreignKeys).toEqual([
    expect.stringMatching(/^ALTER TABLE public.agents ADD CONSTRAINT agents_organization_fkey FOREIGN KEY/),
  ])
  expect(readNewTable('CREATE TABLE instance (id uuid)')).toBeUndefined()
  expect(readNewTable('CREATE INDEX a ON agents (id)')).toBeUndefined()
})

it('changes one thing of a table at a time', () => {
  expect(splitChanges('ALTER TABLE a\n ADD COLUMN b numeric(3, 1), -- one\n DROP CONSTRAINT c')).toEqual([
    'ALTER TABLE a\nADD COLUMN b numeric(3, 1)',
    'ALTER TABLE a\nDROP CONSTRAINT c',
  ])
  expect(splitChanges('UPDATE a SET b = 1, c = 2')).toEqual(['UPDATE a SET b = 1, c = 2'])
})

it('creates the same schema from all migrations after splitting them', async () => {
  const root = join(import.meta.dirname, '../../../../migrations')
  const [whole, apart] = await Promise.all([testDatabase({ empty: true }), testDatabase({ empty: true })])
  const client = new pg.Client(apart.connection)
  await client.connect()
  try {
    await migrate(whole.connection, { log: openLog({ write: () => {} }) })
    for (const name of (await readdir(root)).sort()) {
      const text = await readFile(join(root, name), 'utf8')
      for (const statement of splitStatements(text)) {
        const made = readNewTable(statement)
        for (const part of made ? [made.create, ...made.foreignKeys] : splitChanges(statement)) await client.query(part)
      }
    }
    expect(await dumpSchema(apart.connection)).toBe(await dumpSchema(whole.connection))
  } finally {
    await client.end()
    await Promise.all([whole.drop(), apart.drop()])
  }
})
