import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { copyCluster } from '../../server/platform/db/base-backup.ts'
import { type Db, openDatabase } from '../../server/platform/db/database.ts'
import { openReplica } from '../../server/platform/db/replica.ts'
import { openLog } from '../../server/platform/log.ts'
import { behindPassage, databaseUrl } from '../database.ts'
import { ask, makeDataDir, provision, startEarshot } from '../earshot.ts'
import { letIn, runOn, startDatabase } from '../own-database.ts'

/** Starts a database, and a standby that follows it by streaming replication. */
const startPair = async () => {
  const primary = await startDatabase()
  // If this process runs as root, each database runs as a user without a name, whom the other one cannot recognize.
  await letIn(primary, 'local replication all trust')
  const there = await makeDataDir()
  const [source, target] = [join(primary.dataDir, 'postgres'), join(there, 'postgres')]
  await copyCluster(primary.connection, {
    folder: source,
    target,
    copy: (path) => copyFile(join(source, path), join(target, path)),
  })
  await writeFile(join(target, 'standby.signal'), '')
  const { host, port, user } = primary.connection
  const standby = await startDatabase({ primary_conninfo: `host=${host} port=${port} user=${user}` }, there)
  return { primary: primary.connection, standby: standby.connection }
}

/** Starts a service on both databases, and creates an organization. */
const startService = async (primary: pg.ClientConfig, standby: pg.ClientConfig, switches = {}) => {
  const earshot = await startEarshot({
    DATABASE_URL: databaseUrl(primary),
    EARSHOT_READ_DATABASE_URL: databaseUrl(standby),
    EARSHOT_DATA_DIR: await makeDataDir(),
    EARSHOT_SECRET_KEY: 'secret-key-of-the-tests-0123456789',
    ...switches,
  })
  const { key } = await provision(earshot.origin)
  const call = (method: string, path: string, body?: unknown) => ask(earshot.origin, method, path, key, body)
  const monitor = (await call('POST', '/v1/monitors', { name: 'Refund', kind: 'external', definition: {} })).body
  let stored = 0
  const store = async (count: number) => {
    const externalIds = Array.from({ length: count }, () => `call-${++stored}`)
    const conversations = externalIds.map((externalId) => ({
      externalId,
      agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
      channel: 'call',
      startedAt: '2026-11-20T09:00:00.000Z',
    }))
    expect((await call('POST', '/v1/conversations/batch', { conversations })).status).toBe(200)
    const results = externalIds.map((conversationExternalId) => ({
      monitorId: monitor.id,
      conversationExternalId,
      result: 'affected',
    }))
    expect((await call('POST', '/v1/monitor-results', { results })).status).toBe(200)
  }
  return { earshot, call, monitorId: monitor.id as string, store }
}

/** Waits until a standby has replayed everything, then pauses its replay. */
const stopReplaying = async (primary: pg.ClientConfig, standby: pg.ClientConfig) => {
  await replayAll(primary, standby)
  await runOn(standby, 'SELECT pg_wal_replay_pause()')
  await expect.poll(() => runOn(standby, 'SELECT pg_get_wal_replay_pause_state() AS value')).toBe('paused')
}

const replayAll = async (primary: pg.ClientConfig, standby: pg.ClientConfig) => {
  const written = await runOn(primary, 'SELECT pg_current_wal_lsn() AS value')
  const reached = () => runOn(standby, `SELECT pg_last_wal_replay_lsn() >= '${written}' AS value`)
  await expect.poll(reached, { timeout: 90_000 }).toBe(true)
}

it('an export from a standby contains everything that was stored before it was requested', async () => {
  const { primary, standby } = await startPair()
  const { earshot, call, monitorId: id, store } = await startService(primary, standby)
  const askForExport = async () => {
    const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z', timezone: 'UTC' }
    const body = { operationId: crypto.randomUUID(), config: { monitors: [{ id }], ...period } }
    const answer = await call('POST', '/v1/monitor-exports', body)
    expect(answer.status).toBe(202)
    return async () => (await call('GET', `/v1/monitor-exports/${answer.body.id}`)).body
  }
  const notes = () => earshot.stderr().match(/the export reads [a-z ]+|the replica is too far behind/g) ?? []

  const ofReader = (statement: string) => runOn(standby, statement)
  expect(await ofReader('SELECT pg_is_in_recovery() AS value')).toBe(true)

  await store(100)
  await replayAll(primary, standby)
  const first = await askForExport()
  await expect.poll(async () => (await first()).status, { timeout: 90_000 }).toBe('completed')
  expect((await first()).rowCount).toBe(100)

  await stopReplaying(primary, standby)
  await store(50)
  expect(await ofReader('SELECT count(*)::int AS value FROM conversations')).toBe(100)
  const second = await askForExport()
  // The export's query has reached the standby and waits for its replay.
  const waiting = `SELECT count(*)::int AS value FROM pg_stat_activity WHERE application_name = 'earshot export'`
  await expect.poll(() => ofReader(waiting)).toBe(1)
  expect((await second()).status).toBe('processing')
  await ofReader('SELECT pg_wal_replay_resume()')
  await expect.poll(async () => (await second()).status, { timeout: 90_000 }).toBe('completed')
  expect((await second()).rowCount).toBe(150)
  await expect.poll(notes).toEqual(['the export reads the replica', 'the export reads the replica'])
})

/** The lag is longer than a few requests take on a busy machine. */
const maxLagSeconds = 10

it('analytics read a standby with little lag, and the primary otherwise', async () => {
  const { primary, standby } = await startPair()
  const { passage, connection } = await behindPassage(standby)
  const { earshot, call, monitorId, store } = await startService(primary, standby, {
    EARSHOT_READ_DATABASE_URL: `postgres://${connection.user}@127.0.0.1:${connection.port}/${connection.database}`,
    EARSHOT_READ_MAX_LAG_SECONDS: String(maxLagSeconds),
  })
  const day = 'since=2026-11-20T00:00:00Z&until=2026-11-21T00:00:00Z'
  /** Reads from the service, and expects success. */
  const read = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body)
    expect(answer.status, path).toBe(200)
    return answer.body
  }
  const count = async () => (await read('POST', '/v1/conversations/count', { filter: {} })).count
  const readings: Record<string, () => Promise<unknown>> = {
    count,
    trend: async () =>
      (await read('GET', `/v1/monitors/${monitorId}/trend?interval=day&timezone=UTC&${day}`)).data[0].affected,
    comparison: async () => (await read('GET', `/v1/monitors/comparison?${day}`)).data[0]?.current.affected,
  }
  const listExamples = async () => {
    const { data } = await read('GET', `/v1/monitors/comparison?${day}`)
    return data[0].examples.map(({ conversationId }: { conversationId: string }) => conversationId)
  }
  const readAll = async () => {
    const entries = Object.entries(readings).map(async ([name, reading]) => [name, await reading()])
    return Object.fromEntries(await Promise.all(entries))
  }
  const each = (count: number) => ({ count, trend: count, comparison: count })
  const isUsed = () =>
    earshot
      .stderr()
      .match(/analytics read the (replica|primary)/g)
      ?.at(-1)

  await store(10)
  await expect.poll(async () => [await count(), isUsed()]).toEqual([10, 'analytics read the replica'])
  await expect.poll(readAll).toEqual(each(10))

  await stopReplaying(primary, standby)
  await count()
  const pausedAt = performance.now()
  await store(5)
  // The standby only has the first ten, which the maximum lag allows. Lists already show all of them, because people
  // check lists after changes.
  expect(await readAll()).toEqual(each(10))
  // Examples contain output of the judge, so they are erased with the conversation.
  const shown = await listExamples()
  expect(shown).toHaveLength(3)
  expect((await call('DELETE', `/v1/conversations/${shown[0]}`)).status).toBeLessThan(300)
  expect(await listExamples()).not.toContain(shown[0])
  expect(performance.now() - pausedAt).toBeLessThan(maxLagSeconds * 1_000)
  expect((await call('GET', '/v1/conversations')).body.data).toHaveLength(14)
  await expect.poll(readAll, { timeout: 3 * maxLagSeconds * 1_000 }).toEqual(each(14))
  expect(performance.now() - pausedAt).toBeGreaterThan((maxLagSeconds - 5) * 1_000)
  await expect.poll(isUsed).toBe('analytics read the primary')
  expect(await runOn(standby, 'SELECT count(*)::int AS value FROM conversations')).toBe(10)

  await runOn(standby, 'SELECT pg_wal_replay_resume()')
  await expect.poll(async () => [await readAll(), isUsed()]).toEqual([each(14), 'analytics read the replica'])

  // No request fails if the standby is unresponsive or missing.
  let expected = 14
  for (const kind of ['silent', 'resetting'] as const) {
    passage.become({ kind })
    await store(1)
    expected += 1
    await expect
      .poll(async () => [await readAll(), isUsed()], { timeout: 60_000 })
      .toEqual([each(expected), 'analytics read the primary'])
  }
})

it('the status of an experiment is current right after its launch and its end', async () => {
  const { primary, standby } = await startPair()
  const { earshot, call, monitorId } = await startService(primary, standby, {
    EARSHOT_READ_MAX_LAG_SECONDS: '300',
  })
  const agent = (await call('POST', '/v1/agents', { externalId: 'leo', name: 'Leo', channel: 'voice' })).body
  const versions: string[] = []
  for (const systemPrompt of ['You are Leo.', 'You are Leo, and brief.']) {
    const version = await call('POST', `/v1/agents/${agent.id}/versions`, { systemPrompt })
    expect(version.status).toBe(201)
    versions.push(version.body.id)
  }
  const launch = async () => {
    const answer = await call('POST', '/v1/experiments', {
      name: 'Brevity',
      agentId: agent.id,
      armAVersionId: versions[0],
      armBVersionId: versions[1],
      outcomeMetricIds: [monitorId],
      primaryMetricId: monitorId,
      stableRoutingConfirmed: true,
    })
    expect(answer.status).toBe(201)
    return answer.body.id as string
  }
  const id = await launch()
  const status = async (experimentId = id) => (await call('GET', `/v1/experiments/${experimentId}`)).body.status
  await replayAll(primary, standby)
  const isUsed = () =>
    earshot
      .stderr()
      .match(/analytics read the (replica|primary)/g)
      ?.at(-1)
  await expect.poll(async () => [await status(), isUsed()]).toEqual(['running', 'analytics read the replica'])
  await stopReplaying(primary, standby)
  expect((await call('POST', `/v1/experiments/${id}/finish`)).status).toBe(200)
  expect(await status()).toBe('finished')
  expect(await status(await launch())).toBe('running')
  expect((await call('GET', `/v1/experiments/${crypto.randomUUID()}`)).status).toBe(404)
  expect(isUsed()).toBe('analytics read the replica')
  await runOn(standby, 'SELECT pg_wal_replay_resume()')
})

it('a standby that keeps up stays in use while either server is busy', async () => {
  const { primary, standby } = await startPair()
  const database = openDatabase({ connection: primary, applicationName: 'primary', poolSize: 1 })
  onTestFinished(database.close)
  const replica = await openReplica({
    url: databaseUrl(standby),
    maxLagMs: 60_000,
    primary: database,
    applicationName: 'test',
    traced: false,
    log: openLog({ write: () => {} }),
  })
  onTestFinished(replica.close)
  const isOnStandby = async (db: Db) => {
    const { rows } = await sql<{ value: boolean }>`SELECT pg_is_in_recovery() AS value`.execute(db)
    return rows[0]?.value
  }
  const work = (seconds: number) => async (db: Db) => {
    await sql`SELECT pg_sleep(${seconds})`.execute(db)
    return isOnStandby(db)
  }
  await expect.poll(() => replica.read(isOnStandby)).toBe(true)

  // All connections of both pools are in use for longer than the timeout of a progress query.
  const onReplica = Array.from({ length: 10 }, () => replica.read(work(4)))
  const onPrimary = work(4)(database.db)
  await runOn(standby, 'SELECT pg_sleep(1.5)')
  expect(await replica.read(isOnStandby)).toBe(true)
  expect(await Promise.all(onReplica)).toEqual(Array(10).fill(true))
  await onPrimary
})
