import pg from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/database.ts'
import { dumpSchema } from './dump.ts'

const schema = `-- Written by npm run generate from migrations/. Do not edit.

CREATE TABLE calls (
  organization_id uuid NOT NULL,
  started_at timestamp(3) with time zone DEFAULT now() NOT NULL
) PARTITION BY RANGE (started_at);

CREATE TABLE calls_2026 PARTITION OF calls FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');

CREATE TABLE organizations (
  id uuid NOT NULL,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL,
  "order" text DEFAULT 'none'::text COLLATE pg_catalog."C",
  short text GENERATED ALWAYS AS (lower(name)) STORED,
  CONSTRAINT organizations_pkey PRIMARY KEY (id) INCLUDE (name),
  CONSTRAINT organizations_name_check CHECK ((length(name) > 0))
) WITH (autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX organizations_by_name ON organizations USING btree (name) WHERE (number > 0);
CREATE UNIQUE INDEX organizations_short ON organizations USING btree (short);
`

const run = async (connection: pg.ClientConfig, text: string) => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

test('a dump creates a database with the same dump', async () => {
  const [first, second] = [await testDatabase({ empty: true }), await testDatabase({ empty: true })]
  try {
    await run(first.connection, `SET TimeZone = 'Asia/Tokyo'; ${schema}`)
    const dumped = await dumpSchema(first.connection)
    expect(dumped).toContain('CREATE TABLE organizations (\n  id uuid NOT NULL,\n')
    expect(dumped).toContain('  CONSTRAINT organizations_pkey PRIMARY KEY (id) INCLUDE (name),\n')
    expect(dumped).toContain(') WITH (autovacuum_vacuum_insert_scale_factor=0.02);\n')
    expect(dumped).toContain('WHERE (number > 0);\n')
    await run(second.connection, dumped)
    expect(await dumpSchema(second.connection)).toBe(dumped)
  } finally {
    await first.drop()
    await second.drop()
  }
})
