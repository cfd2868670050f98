import { sql } from 'kysely'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { onPlainPostgres } from '../../../test/citus.ts'
import { behindPassage, databaseUrl, testDatabase } from '../../../test/database.ts'
import { ApiError } from '../errors.ts'
import { openLog } from '../log.ts'
import { type Db, openDatabase } from './database.ts'
import { openReplica } from './replica.ts'

const { connection, drop } = await testDatabase({ empty: true })
const database = openDatabase({ connection, applicationName: 'primary' })
afterAll(async () => {
  await database.close()
  await drop()
})

const open = async (url: string | undefined, { maxLagMs = 5_000, primary = database } = {}) => {
  const logged: string[] = []
  const log = openLog({ write: (line) => logged.push(JSON.parse(line).msg) })
  const replica = await openReplica({ url, maxLagMs, primary, applicationName: 'test', traced: false, log })
  onTestFinished(replica.close)
  return { logged, read: replica.read }
}

const whoAnswers = async (db: Db) => {
  const { rows } = await sql<{ name: string }>`SELECT current_setting('application_name') AS name`.execute(db)
  return rows[0]?.name
}

const unused = 'the replica is too far behind or not responding: analytics read the primary'

it('is the primary if there is no replica, or none may be used', async () => {
  for (const { read, logged } of [await open(undefined), await open(databaseUrl(connection), { maxLagMs: 0 })]) {
    expect(await read(whoAnswers)).toBe('primary')
    expect(logged).toEqual([])
  }
})

it('is not a server that follows no other, because its lag is unknown', async () => {
  const { read, logged } = await open(databaseUrl(connection))
  expect(await read(whoAnswers)).toBe('primary')
  expect(await read(whoAnswers)).toBe('primary')
  expect(logged).toEqual([unused])
})

it('is the primary while the replica does not respond, which only delays a first read', async () => {
  const { passage, connection: silent } = await behindPassage(connection)
  const user = silent.user ?? ''
  const { read, logged } = await open(`postgres://${user}@127.0.0.1:${silent.port}/${silent.database}`)
  passage.become({ kind: 'silent' })
  expect(await read(whoAnswers)).toBe('primary')
  const beganAt = performance.now()
  for (let at = 0; at < 10; at++) expect(await read(whoAnswers)).toBe('primary')
  // If it contacted the replica, each of the reads would wait for a second.
  expect(performance.now() - beganAt).toBeLessThan(1_000)
  expect(logged).toEqual([unused])
  passage.reset()
})

it('reports what is wrong with a read itself', async () => {
  const { read } = await open(databaseUrl(connection))
  await expect(read((db) => sql`SELECT 1 / 0`.execute(db))).rejects.toThrow('division by zero')
})

/** Opens a server that doesn't replicate anything but claims to follow the primary without lag. */
const openPretender = async () => {
  const { connection, drop } = await testDatabase({ empty: true })
  onTestFinished(drop)
  const { db, close } = openDatabase({ connection, applicationName: 'test' })
  onTestFinished(close)
  await sql`CREATE FUNCTION public.pg_is_in_recovery() RETURNS boolean RETURN true`.execute(db)
  await sql`
    CREATE FUNCTION public.pg_last_wal_replay_lsn() RETURNS pg_lsn RETURN pg_catalog.pg_current_wal_lsn()`.execute(db)
  const url = new URL(databaseUrl(connection))
  url.searchParams.set('options', '-c search_path=public,pg_catalog')
  const { read } = await open(url.href, { maxLagMs: 60_000 })
  await expect.poll(() => read(whoAnswers)).toBe('test replica')
  /** Returns the servers that run a read if it fails on the replica. */
  const runWith = async (fail: (db: Db) => Promise<unknown>) => {
    const askedOf: string[] = []
    const outcome = read(async (db) => {
      const server = (await whoAnswers(db)) ?? ''
      askedOf.push(server)
      if (server !== 'primary') await fail(db)
      return server
    })
    const answer = await outcome.catch((error: Error) => error)
    return { askedOf, answer }
  }
  return { read, runWith }
}

const failWith = (state: string) => (db: Db) =>
  sql`${sql.raw(`DO $$ BEGIN RAISE EXCEPTION 'failed on purpose' USING ERRCODE = '${state}'; END $$`)}`.execute(db)

it('repeats a read on the primary if the replica is lost or cancels it because of recovery', async () => {
  const { runWith } = await openPretender()
  const endOwnSession = (db: Db) => sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(db)
  const states = ['08006', '40001', '40P01', '53300', '57P01', '57P02', '57P03']
  for (const fail of [endOwnSession, ...states.map(failWith)]) {
    expect(await runWith(fail)).toEqual({ askedOf: ['test replica', 'primary'], answer: 'primary' })
  }
})

it('does not repeat a read that timed out or failed for its own reason', async () => {
  const { runWith } = await openPretender()
  for (const state of ['57014', '53200', '22012', '42P01']) {
    expect(await runWith(failWith(state))).toEqual({
      askedOf: ['test replica'],
      answer: expect.objectContaining({ code: state }),
    })
  }
  const refusal = new ApiError('invalid', 'The read is refused.')
  expect(await runWith(() => Promise.reject(refusal))).toEqual({ askedOf: ['test replica'], answer: refusal })
  const slow = (db: Db) =>
    db.connection().execute(async (session) => {
      await sql`SET statement_timeout = 50`.execute(session)
      await sql`SELECT pg_sleep(10)`.execute(session)
    })
  expect(await runWith(slow)).toMatchObject({ askedOf: ['test replica'], answer: { code: '57014' } })
})

it('does not repeat a read that waited too long for a connection', async () => {
  const { read } = await openPretender()
  const others = Array.from({ length: 10 }, () => read((db) => sql`SELECT pg_sleep(7)`.execute(db)))
  const askedOf: (string | undefined)[] = []
  const waiting = read(async (db) => askedOf.push(await whoAnswers(db)))
  await expect(waiting).rejects.toThrow('timeout exceeded when trying to connect')
  await Promise.all(others)
  expect(askedOf).toEqual([])
})

it('reports what is wrong with the check of a result', async () => {
  const { read } = await openPretender()
  const refusal = new ApiError('notFound', 'There is no such thing.')
  const refuse = () => Promise.reject(refusal)
  await expect(read(whoAnswers, refuse)).rejects.toBe(refusal)
  expect(await read(whoAnswers, async () => false)).toBe('primary')
})

const plain = onPlainPostgres('a cluster has the real extension')

plain.it(
  'is the primary for a distributed database, because its log tells nothing about standbys of other nodes',
  async () => {
    const { connection, drop } = await testDatabase({ empty: true })
    onTestFinished(drop)
    const primary = openDatabase({ connection, applicationName: 'primary' })
    onTestFinished(primary.close)
    // These Citus tables show that tables are distributed.
    await sql`
    INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    VALUES (99999, 'citus', 10, 'public'::regnamespace, false, '14.0')`.execute(primary.db)
    await sql`CREATE TABLE public.pg_dist_partition (logicalrelid regclass, partkey text, repmodel "char", colocationid int)`.execute(
      primary.db,
    )
    await sql`
    CREATE FUNCTION public.column_to_column_name(regclass, text) RETURNS text RETURN 'organization_id'`.execute(
      primary.db,
    )
    await sql`INSERT INTO public.pg_dist_partition VALUES ('public.pg_dist_partition', 'x', 's', 1)`.execute(primary.db)
    const { read, logged } = await open(databaseUrl(connection), { primary })
    expect(await read(whoAnswers)).toBe('primary')
    expect(await read(whoAnswers)).toBe('primary')
    expect(logged).toEqual([
      'the database is distributed, so the lag of the replica is unknown: analytics read the primary',
    ])
  },
)
