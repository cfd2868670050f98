import { connect, createServer } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { ask, makeDataDir, provision, runInOne, startEarshot } from '../../test/earshot.ts'
import { listen } from '../../test/outside.ts'
import { letIn, runOn, startDatabase } from '../../test/own-database.ts'

/** The startup parameters that PgBouncer accepts. It rejects most others. */
const accepted = new Set(['user', 'database', 'application_name', 'client_encoding'])

/** Returns the parameters of a startup packet, which follow its length and protocol version. */
const readParameters = (packet: Buffer): Record<string, string> => {
  const parts = packet.toString('utf8', 8, packet.readInt32BE(0)).split('\0')
  const parameters: Record<string, string> = {}
  for (let at = 0; parts[at]; at += 2) parameters[parts[at] as string] = parts[at + 1] ?? ''
  return parameters
}

/** Creates a database with a role that can only sign in, and a proxy that reads startup packets. */
const makeDatabase = async () => {
  const server = await startDatabase()
  await letIn(server, 'local plain plain trust')
  await runOn(server.connection, 'CREATE ROLE plain LOGIN', 'CREATE DATABASE plain OWNER plain')
  const starts: Record<string, string>[] = []
  const { host, port } = server.connection
  const proxy = await listen(
    createServer((client) => {
      const upstream = connect(`${host}/.s.PGSQL.${port ?? 5432}`)
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('error', () => other.destroy())
        one.once('close', () => other.destroy())
      }
      client.once('data', (packet) => {
        starts.push(readParameters(packet))
        upstream.write(packet)
        client.pipe(upstream).pipe(client)
      })
    }),
    afterAll,
  )
  return { url: `postgres://plain@127.0.0.1:${proxy.port}/plain`, starts, superuser: server.connection }
}

const { url, starts, superuser } = await makeDatabase()
const switches = {
  DATABASE_URL: url,
  EARSHOT_DATA_DIR: await makeDataDir(),
  EARSHOT_SECRET_KEY: 'a-secret-key-for-this-test-0123456789',
}
const { origin, child, ended, stderr } = await startEarshot(switches)

it('works for a role that only owns its database, through a session pooler', async () => {
  const { key } = await provision(origin)
  const call = (method: string, path: string, body?: unknown) => ask(origin, method, path, key, body)
  const rule = {
    name: 'Refund',
    kind: 'rule',
    definition: { expression: 'turns.exists(t, t.text.contains("refund"))' },
  }
  const monitor = (await call('POST', '/v1/monitors', rule)).body
  const conversations = ['A refund, please.', 'Goodbye.'].map((text) => ({
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    channel: 'call',
    status: 'completed',
    startedAt: '2026-11-20T09:00:00.000Z',
    transcript: `Customer: ${text}`,
  }))
  expect((await call('POST', '/v1/conversations/batch', { conversations })).status).toBe(200)
  const filter = { monitors: [{ id: monitor.id, result: 'affected' }] }
  const countAffected = async () => (await call('POST', '/v1/conversations/count', { filter })).body.count
  await expect.poll(countAffected, { timeout: 30_000 }).toBe(1)

  const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z', timezone: 'UTC' }
  const config = { monitors: [{ id: monitor.id }], ...period }
  expect((await call('POST', '/v1/monitor-exports/preview', { config })).body.count).toBe(2)
  const asked = await call('POST', '/v1/monitor-exports', { operationId: crypto.randomUUID(), config })
  const readExport = async () => (await call('GET', `/v1/monitor-exports/${asked.body.id}`)).body
  await expect.poll(readExport, { timeout: 30_000 }).toMatchObject({ status: 'completed', rowCount: 2 })

  for (const command of [
    ['doctor'],
    ['migrate'],
    ['jobs', 'list'],
    ['keys', 'service'],
    ['db', 'distribute', '--dry-run'],
  ]) {
    const { code, stdout, stderr: faults } = await runInOne(command, switches)
    expect([code, faults], `${command.join(' ')}: ${stdout}`).toEqual([0, ''])
  }
  child.kill('SIGTERM')
  expect((await ended).code, stderr()).toBe(0)

  const sent = new Set(starts.flatMap(Object.keys))
  expect(
    [...sent].filter((name) => !accepted.has(name)),
    'send settings as statements, see setSession',
  ).toEqual([])
  const names = starts.map(({ application_name: name }) =>
    name?.replace(/ \(pid \d+\)| v\S+ \S+(?= notices)|(?<=earshot worker) .*/g, ''),
  )
  const programs = ['serve', 'serve notices', 'serve jobs', 'worker', 'migrations', 'export', 'doctor', 'db distribute']
  expect(names).toEqual(expect.arrayContaining(programs.map((program) => `earshot ${program}`)))
  expect(
    await runOn(
      superuser,
      "SELECT rolsuper OR rolcreatedb OR rolcreaterole AS value FROM pg_roles WHERE rolname = 'plain'",
    ),
  ).toBe(false)
})
