import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Type } from 'typebox'
import { afterAll, expect, it } from 'vitest'
import { buildApp } from '../server/app.ts'
import { openDeps } from '../server/deps.ts'
import { addSpending } from '../server/organizations/spending/queries.ts'
import { loadConfig } from '../server/platform/config.ts'
import { openDatabase } from '../server/platform/db/database.ts'
import { dumpSchema } from '../server/platform/db/dump.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { setSession } from '../server/platform/db/session.ts'
import { orgIdOf } from '../server/platform/ids.ts'
import { type Attempt, defineJob } from '../server/platform/jobs/define-job.ts'
import { openJobs } from '../server/platform/jobs/queue.ts'
import { openLog } from '../server/platform/log.ts'
import { queueMail } from '../server/platform/mail/mail.ts'
import { coordinatorUrl, spreadTables } from './citus.ts'
import { testDatabase } from './database.ts'
import { makeConversation, makeExportSchedule, makeOrganization, makeTopic } from './make.ts'
import { fillPath, hasId, listOperations } from './operations.ts'
import { testServer } from './server.ts'

/**
 * Migrates every earlier schema with data to the current one. The current service writes the data, and tables and
 * columns that the earlier schema lacks are left out.
 */

const log = openLog({ write: () => {} })
const root = join(import.meta.dirname, '../migrations')
const files = (await readdir(root)).filter((name) => name.endsWith('.sql')).sort()
const folder = await mkdtemp(join(tmpdir(), 'earshot-upgrade-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const connect = async (connection: pg.ClientConfig) => {
  const client = new pg.Client(connection)
  await client.connect()
  await setSession(client, {})
  return client
}

type Table = { name: string; columns: string[] }

/** Lists the tables of a state with the columns that can be written. Each table follows those that it refers to. */
const listTables = async (client: pg.Client): Promise<Table[]> => {
  const { rows } = await client.query<Table & { refersTo: string[] }>(
    `SELECT relname AS name,
       ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
             AND attgenerated = '' ORDER BY attnum) AS columns,
       ARRAY(SELECT DISTINCT confrelid::regclass::text FROM pg_constraint
             WHERE conrelid = c.oid AND contype = 'f' AND confrelid <> c.oid) AS "refersTo"
     FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     AND relname <> 'migrations' ORDER BY relname`,
  )
  const sorted: typeof rows = []
  while (sorted.length < rows.length) {
    const next = rows.filter(
      (row) => !sorted.includes(row) && row.refersTo.every((name) => sorted.some((done) => done.name === name)),
    )
    if (next.length === 0) throw new Error('the tables refer to each other in a circle')
    sorted.push(...next)
  }
  return sorted
}

const list = (columns: string[]) => columns.map((column) => pg.escapeIdentifier(column)).join(', ')

/**
 * Returns every row as JSON, in a stable order. Each row is read from the table itself, so that names are the same on a
 * cluster.
 */
const readRows = async (client: pg.Client, { name, columns }: Table): Promise<string[]> => {
  const { rows } = await client.query<{ row: string }>(
    `SELECT (to_jsonb(t) - $1::text[])::text AS row FROM ${name} t ORDER BY 1`,
    [(await listColumns(client, name)).filter((column) => !columns.includes(column))],
  )
  return rows.map(({ row }) => row)
}

const listColumns = async (client: pg.Client, table: string): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped',
    [table],
  )
  return rows.map(({ name }) => name)
}

// This organization has all resources that the current service's operations can create.
const server = await testServer()
const org = await makeOrganization(server)
const paths = new Map(
  listOperations(server)
    .filter(hasId)
    .map((swept) => [swept.path, swept]),
)
for (const swept of paths.values()) if (swept.path.startsWith('/v1/')) await fillPath(server, swept, org)
const { id: scheduleId } = await makeExportSchedule(server, org.key)
const run = await server.call('POST', `/v1/export-schedules/${scheduleId}/run`, { key: org.key })
expect(run.status).toBe(202)
const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', name: 'chat', kind: 1 }
const times = { startTimeUnixNano: '1795510000000000000', endTimeUnixNano: '1795510001000000000' }
const traces = { resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, ...times }] }] }] }
const traced = await server.call('POST', '/v1/otlp/v1/traces', { key: org.key, body: traces })
expect(traced.status).toBe(200)
const mail = { to: ['ada@example.com'], subject: 'A notice', text: 'Something happened.' }
await queueMail(server.deps, server.deps.db, orgIdOf(org.id), mail)
await addSpending(server.deps.db, orgIdOf(org.id), '2026-11-01', { judgements: 1, input: 900, output: 90, cost: 0.01 })
await makeTopic(server, org.key, (await makeConversation(server, org.key)).id)
const { connection: present } = server.deps.database
const source = await connect(present)
afterAll(() => source.end())
const data = new Map<string, { columns: string[]; rows: string[] }>()
for (const table of await listTables(source)) {
  data.set(table.name, { columns: table.columns, rows: await readRows(source, table) })
}
/** Dumps the schema. On a cluster, it includes where tables are placed, but not the shards, which are tables, too. */
const dump = (connection: pg.ClientConfig) =>
  dumpSchema({ ...connection, options: '-c citus.override_table_visibility=on' })
const schema = await dump(present)

/** Lists that need no parameter. */
const lists = listOperations(server).filter(
  ({ method, path, access, operation: { parameters = [] } }) =>
    method === 'GET' &&
    path.startsWith('/v1/') &&
    // The stream does not end.
    path !== '/v1/stream' &&
    !path.includes('{') &&
    typeof access === 'object' &&
    !parameters.some(({ required }) => required),
)

it('has data in every table that a migration alters, and in most others', async () => {
  const texts = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')))
  const altered = texts.flatMap((text) =>
    [...text.matchAll(/^(?:ALTER TABLE|UPDATE) (\w+)/gm)].map(([, name]) => name ?? ''),
  )
  const filled = [...data].flatMap(([name, { rows }]) => (rows.length > 0 ? [name] : []))
  expect(altered.length).toBeGreaterThan(5)
  expect(altered.filter((name) => !filled.includes(name))).toEqual([])
  expect(filled.length).toBeGreaterThan(data.size / 2)
})

/** Columns that no version of the code wrote before the given migration. */
const unwritten: Record<string, string> = { 'reviews.lease_expires_at': '0017_buckets.sql' }

const expectService = async (connection: pg.ClientConfig): Promise<void> => {
  await migrate(connection, { log })
  // The folder has the key that seals secrets.
  const config = loadConfig({ EARSHOT_DATA_DIR: server.deps.config.dataDir })
  const deps = await openDeps({ config, log, connection, applicationName: 'test' })
  const app = await buildApp(deps, { overload: { check: () => {}, close: () => {} } })
  for (const { path } of lists) {
    const answer = await app.inject({ url: path, headers: { authorization: `Bearer ${org.key}` } })
    expect(answer.statusCode, `${path}: ${answer.body}`).toBe(200)
  }
  await app.close()
  await deps.close()
}

/** An empty database that is migrated file by file. Each state is a copy of it, except on a cluster. */
const steps = coordinatorUrl ? undefined : await testDatabase({ empty: true })
afterAll(() => steps?.drop())

/** Creates a database as of the given migration, with the data that fits its schema. */
const openState = async (last: string, { copyOf }: { copyOf?: string | undefined } = {}) => {
  const only = join(folder, last)
  for (const name of files.slice(0, files.indexOf(last) + 1)) await cp(join(root, name), join(only, name))
  if (steps && copyOf) await migrate(steps.connection, { log, folder: only })
  const { connection, drop } = await testDatabase({ empty: true, copyOf })
  const client = await connect(connection)
  const close = async () => {
    await client.end()
    await drop()
  }
  if (!copyOf) await migrate(connection, { log, folder: only })
  const filled: { table: Table; rows: string[] }[] = []
  for (const { name, columns } of await listTables(client)) {
    const made = data.get(name)
    const table = {
      name,
      columns: columns.filter((column) => {
        const since = unwritten[`${name}.${column}`]
        return made?.columns.includes(column) && (since === undefined || last >= since)
      }),
    }
    if (!made) continue
    // A migration may have inserted a row.
    await client.query(`DELETE FROM ${name}`)
    await client.query(
      `INSERT INTO ${name} (${list(table.columns)})
       SELECT ${list(table.columns)} FROM jsonb_populate_recordset(NULL::${name}, $1)`,
      [`[${made.rows.join(',')}]`],
    )
    const rows = await readRows(client, table)
    expect(rows.length, name).toBe(made.rows.length)
    filled.push({ table, rows })
  }
  if (coordinatorUrl) await spreadTables(connection)
  return { connection, client, filled, close }
}

it.each(files.slice(0, -1))('%s with data is migrated to the current schema without losing anything', async (last) => {
  const { connection, client, filled, close } = await openState(last, { copyOf: steps?.connection.database })
  try {
    expect(await migrate(connection, { log })).toEqual(files.slice(files.indexOf(last) + 1))
    for (const { table, rows } of filled) expect(await readRows(client, table), table.name).toEqual(rows)
    expect(await dump(connection)).toBe(schema)

    // The service starts on a state with minimal data and on one with nearly all. The states in between only differ in
    // which rows exist.
    if (last === files[0] || last === files.at(-2)) await expectService(connection)
  } finally {
    await close()
  }
})

it('deliveries of reviews are deleted if their conversations were erased earlier', async () => {
  const { connection, client, close } = await openState('0020_rare_lists.sql')
  try {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM conversations LIMIT 1')
    const there = rows[0]?.id
    const deliver = async (event: string, conversationId: string | undefined) => {
      const id = randomUUID()
      await client.query(
        `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_type, body, status, created_at)
         SELECT organization_id, $1, gen_random_uuid(), $2, $3, 'succeeded', now() FROM conversations WHERE id = $4`,
        [id, event, JSON.stringify({ type: event, data: { conversationId } }), there],
      )
      return id
    }
    const kept = [await deliver('review.completed', there), await deliver('webhook.test', randomUUID())]
    const gone = await deliver('review.completed', randomUUID())
    await migrate(connection, { log })
    const left = await client.query<{ id: string }>('SELECT id FROM webhook_deliveries WHERE id = ANY($1)', [
      [...kept, gone],
    ])
    expect(left.rows.map(({ id }) => id).sort()).toEqual(kept.sort())
  } finally {
    await close()
  }
})

it.each(['delivering', 'generating'])(
  'runs that were being delivered while their schedules changed count as moved (%s)',
  async (status) => {
    for (const isChanged of [true, false]) {
      const { connection, client, close } = await openState('0023_moved_runs.sql')
      try {
        await client.query('UPDATE export_schedule_runs SET status = $1', [status])
        const { rowCount } = await client.query('UPDATE export_schedules SET updated_at = $1', [
          isChanged ? new Date() : new Date(0),
        ])
        expect(rowCount).toBeGreaterThan(0)
        await migrate(connection, { log })
        const { rows } = await client.query('SELECT is_moved FROM export_schedule_runs')
        expect(rows).toEqual([{ is_moved: isChanged && status === 'delivering' }])
      } finally {
        await close()
      }
    }
  },
)

it('people with a single sign-on identity keep it with the issuer of their token, and no token is stored', async () => {
  const { connection, client, close } = await openState('0024_runs_before_moves.sql')
  try {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM users LIMIT 1')
    const userId = rows[0]?.id
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = (claims: object) => `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`
    const subjects = ['s-1', 's-2', 's-3']
    const tokens = [
      // The tokens have every length that needs padding, and everything that JSON can contain.
      token({ iss: 'https://login.example.com', name: 'Zoë \u0000 ÿ?>' }),
      token({ iss: 'https://login.example.com/' }),
      null,
    ]
    for (const [i, subject] of subjects.entries()) {
      await client.query(
        `INSERT INTO accounts (id, user_id, provider_id, account_id, id_token, access_token)
         VALUES (gen_random_uuid(), $1, 'oidc', $2, $3, 'access')`,
        [userId, subject, tokens[i]],
      )
    }
    await migrate(connection, { log })
    const identities = await client.query('SELECT user_id, issuer, subject FROM identities ORDER BY subject')
    expect(identities.rows).toEqual([
      { user_id: userId, issuer: 'https://login.example.com', subject: 's-1' },
      { user_id: userId, issuer: 'https://login.example.com/', subject: 's-2' },
    ])
    const left = await client.query(`SELECT 1 FROM accounts WHERE provider_id = 'oidc' OR id_token IS NOT NULL`)
    expect(left.rows).toEqual([])
  } finally {
    await close()
  }
})

it('conversations show the state of the recordings that they have', async () => {
  const { connection, client, close } = await openState('0036_api_key_uses.sql')
  try {
    await client.query("UPDATE recordings SET failure = 'too large', status = 'failed' WHERE status = 'pending'")
    const { rows: recordings } = await client.query(
      'SELECT conversation_id AS id, status, failure FROM recordings ORDER BY 1',
    )
    expect(new Set(recordings.map(({ status }) => status))).toEqual(new Set(['failed', 'stored']))
    await migrate(connection, { log })
    const { rows: conversations } = await client.query(
      `SELECT id, recording_status AS status, recording_failure AS failure FROM conversations
       WHERE recording_status IS NOT NULL ORDER BY 1`,
    )
    expect(conversations).toEqual(recordings)
  } finally {
    await close()
  }
})

/** The columns of jobs in pg-boss 12, and the parts of its schema that conflict. */
const oldQueue = `
  CREATE SCHEMA pgboss;
  CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
  CREATE TABLE pgboss.queue (name text PRIMARY KEY);
  CREATE TABLE pgboss.job (
    id uuid NOT NULL, name text NOT NULL REFERENCES pgboss.queue, priority integer NOT NULL DEFAULT 0, data jsonb,
    state pgboss.job_state NOT NULL DEFAULT 'created', retry_limit integer NOT NULL DEFAULT 1000000,
    retry_count integer NOT NULL DEFAULT 0, singleton_key text, start_after timestamptz NOT NULL DEFAULT now(),
    created_on timestamptz NOT NULL DEFAULT now(), started_on timestamptz, completed_on timestamptz, output jsonb
  ) PARTITION BY LIST (name);
  CREATE TABLE pgboss.job_common PARTITION OF pgboss.job DEFAULT;
  CREATE FUNCTION pgboss.job_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
  INSERT INTO pgboss.queue SELECT unnest(ARRAY['__pgboss__send-it', 'company.delete-logo', 'mail.deliver', 'mail.sweep'])`

it('jobs of pg-boss are kept, each with its organization', async () => {
  const { connection, client, close } = await openState('0024_runs_before_moves.sql')
  const database = openDatabase({ connection, applicationName: 'test' })
  const jobs = openJobs({ database, log })
  try {
    await client.query(oldQueue)
    const own = randomUUID()
    const system = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    const insert = async (values: Record<string, unknown>) => {
      const id = randomUUID()
      const row = { id, singleton_key: id, name: 'mail.deliver', data: { organizationId: own, mailId: 'm' }, ...values }
      await client.query(
        `INSERT INTO pgboss.job (${Object.keys(row).join(', ')})
         VALUES (${Object.keys(row).map((_, at) => `$${at + 1}`)})`,
        Object.values(row),
      )
      return id
    }
    const past = new Date(Date.now() - 60_000)
    const future = new Date(Date.now() + 3_600_000)
    const waiting = await insert({ priority: 7 })
    const single = await insert({ name: 'mail.sweep', data: {}, singleton_key: 'one' })
    const delayed = await insert({ start_after: future })
    const ofFile = await insert({ name: 'company.delete-logo', data: { key: `${own}/logos/x` } })
    const retrying = await insert({ state: 'retry', retry_count: 2, started_on: past, output: { message: 'no' } })
    const returned = { retry_count: 3, retry_limit: 1_000_001 }
    const active = await insert({ state: 'active', started_on: past, start_after: past, ...returned })
    const dead = await insert({ state: 'failed', retry_count: 4, started_on: past, completed_on: past })
    await insert({ state: 'completed', started_on: past, completed_on: past })
    await insert({ name: '__pgboss__send-it' })

    await migrate(connection, { log })
    const { rows } = await client.query(
      `SELECT id, organization_id AS org, state, attempt, uncounted, priority, singleton_key AS key, error FROM jobs`,
    )
    const rowOf = (id: string) => rows.find((row) => row.id === id)
    expect(rows).toHaveLength(7)
    const fresh = { org: own, attempt: 0, uncounted: 0, key: null, error: null }
    expect(rowOf(waiting)).toMatchObject({ ...fresh, state: 'waiting', priority: 7 })
    expect(rowOf(single)).toMatchObject({ ...fresh, org: system, state: 'waiting', key: 'one' })
    expect(rowOf(delayed)).toMatchObject({ ...fresh, state: 'delayed' })
    expect(rowOf(ofFile)).toMatchObject({ ...fresh, state: 'waiting' })
    expect(rowOf(retrying)).toMatchObject({ org: own, state: 'waiting', attempt: 3, uncounted: 0, error: 'no' })
    expect(rowOf(active)).toMatchObject({ org: own, state: 'waiting', attempt: 4, uncounted: 1 })
    expect(rowOf(dead)).toMatchObject({ org: own, state: 'dead', attempt: 5 })
    const left = await client.query(`SELECT to_regnamespace('pgboss') AS pgboss, to_regclass('job_holders') AS holders`)
    expect(left.rows).toEqual([{ pgboss: null, holders: null }])

    // Attempts that ran are counted, and those that were given back are not.
    const numbers = new Map<string, number>()
    const note = {
      run: async (_deps: object, _payload: unknown, { jobId, number }: Attempt) => void numbers.set(jobId, number),
    }
    const known = ['mail.deliver', 'mail.sweep', 'company.delete-logo'].map((name) =>
      defineJob({ name, payload: Type.Object({}, { additionalProperties: true }), retryLimit: 9, ...note }),
    )
    expect(await jobs.drain(known, {})).toHaveLength(5)
    expect([waiting, single, ofFile, retrying, active].map((id) => numbers.get(id))).toEqual([1, 1, 1, 4, 4])
    expect(await jobs.retryDead([dead])).toEqual([dead])
    expect(await jobs.drain(known, {})).toMatchObject([{ jobId: dead, number: 1, result: 'completed' }])
    expect(await jobs.counts()).toEqual([{ name: 'mail.deliver', state: 'delayed', count: 1 }])
  } finally {
    await jobs.close()
    await database.close()
    await close()
  }
})
