import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { copyCluster } from '../../server/platform/db/base-backup.ts'
import { openEmbedded } from '../../server/platform/db/embedded.ts'
import { openLog } from '../../server/platform/log.ts'
import { databaseUrl } from '../database.ts'
import { ask, makeDataDir, provision, startEarshot } from '../earshot.ts'

const log = openLog({ write: () => {} })

const startDatabase = async (dataDir: string, settings: Record<string, string> = {}) => {
  const embedded = await openEmbedded({
    dataDir,
    log,
    applicationName: 'test',
    settings: { fsync: 'off', ...settings },
  })
  onTestFinished(embedded.close)
  return embedded.connection
}

const readValue = async (database: pg.ClientConfig, statement: string) => {
  const client = new pg.Client(database)
  await client.connect()
  try {
    return (await client.query(statement)).rows[0]?.value
  } finally {
    await client.end()
  }
}

/** Under root, each database runs as a user without a name, whom another one cannot recognize. */
const letStandbyIn = async (dataDir: string, primary: pg.ClientConfig) => {
  const path = join(dataDir, 'postgres.hba')
  // The first line that fits counts.
  await writeFile(path, `local replication all trust\n${await readFile(path, 'utf8')}`)
  await readValue(primary, 'SELECT pg_reload_conf() AS value')
}

/** A database, and a standby that follows it by streaming replication. */
const startPair = async () => {
  const [here, there] = [await makeDataDir(), await makeDataDir()]
  const primary = await startDatabase(here)
  if (process.getuid?.() === 0) await letStandbyIn(here, primary)
  const [source, target] = [join(here, 'postgres'), join(there, 'postgres')]
  await copyCluster(primary, {
    folder: source,
    target,
    copy: (path) => copyFile(join(source, path), join(target, path)),
  })
  await writeFile(join(target, 'standby.signal'), '')
  const { host, port, user } = primary
  const standby = await startDatabase(there, { primary_conninfo: `host=${host} port=${port} user=${user}` })
  return { primary, standby }
}

it('an export that a standby is read for holds all that was there when it was asked for', async () => {
  const { primary, standby } = await startPair()
  const earshot = await startEarshot({
    ...{ DATABASE_URL: databaseUrl(primary), EARSHOT_READ_DATABASE_URL: databaseUrl(standby) },
    ...{ EARSHOT_DATA_DIR: await makeDataDir(), EARSHOT_SECRET_KEY: 'secret-key-of-the-tests-0123456789' },
  })
  const { key } = await provision(earshot.origin)
  const call = (method: string, path: string, body?: unknown) => ask(earshot.origin, method, path, key, body)
  const { id } = (await call('POST', '/v1/monitors', { name: 'Refund', kind: 'external', definition: {} })).body
  let stored = 0
  const store = async (count: number) => {
    const externalIds = Array.from({ length: count }, () => `call-${++stored}`)
    const conversations = externalIds.map((externalId) => ({
      ...{ externalId, agent: { externalId: 'leo', name: 'Leo', channel: 'voice' } },
      ...{ channel: 'call', startedAt: '2026-11-20T09:00:00.000Z' },
    }))
    expect((await call('POST', '/v1/conversations/batch', { conversations })).status).toBe(200)
    const results = externalIds.map((conversationExternalId) => ({
      ...{ monitorId: id, conversationExternalId, result: 'affected' },
    }))
    expect((await call('POST', '/v1/monitor-results', { results })).status).toBe(200)
  }
  const askForExport = async () => {
    const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z', timezone: 'UTC' }
    const body = { operationId: crypto.randomUUID(), config: { monitors: [{ id }], ...period } }
    const answer = await call('POST', '/v1/monitor-exports', body)
    expect(answer.status).toBe(202)
    return async () => (await call('GET', `/v1/monitor-exports/${answer.body.id}`)).body
  }
  const notes = () => earshot.stderr().match(/the export reads [a-z ]+|the replica is too far behind/g) ?? []

  const ofReader = (statement: string) => readValue(standby, statement)
  expect(await ofReader('SELECT pg_is_in_recovery() AS value')).toBe(true)
  const hasAll = async () => {
    const written = await readValue(primary, 'SELECT pg_current_wal_lsn() AS value')
    const reached = () => ofReader(`SELECT pg_last_wal_replay_lsn() >= '${written}' AS value`)
    await expect.poll(reached, { timeout: 90_000 }).toBe(true)
  }

  await store(100)
  await hasAll()
  const first = await askForExport()
  await expect.poll(async () => (await first()).status, { timeout: 90_000 }).toBe('completed')
  expect((await first()).rowCount).toBe(100)

  await hasAll()
  await ofReader('SELECT pg_wal_replay_pause()')
  await expect.poll(() => ofReader('SELECT pg_get_wal_replay_pause_state() AS value')).toBe('paused')
  await store(50)
  expect(await ofReader('SELECT count(*)::int AS value FROM conversations')).toBe(100)
  const second = await askForExport()
  // It has come to the standby and waits for what it lacks.
  const waiting = `SELECT count(*)::int AS value FROM pg_stat_activity WHERE application_name = 'earshot export'`
  await expect.poll(() => ofReader(waiting)).toBe(1)
  expect((await second()).status).toBe('processing')
  await ofReader('SELECT pg_wal_replay_resume()')
  await expect.poll(async () => (await second()).status, { timeout: 90_000 }).toBe('completed')
  expect((await second()).rowCount).toBe(150)
  await expect.poll(notes).toEqual(['the export reads a replica', 'the export reads a replica'])
})
