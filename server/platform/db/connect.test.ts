import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/database.ts'
import { runInOne, switchesOnTestDatabase, takeFreePort } from '../../../test/earshot.ts'
import { listen } from '../../../test/outside.ts'
import { connectDatabase } from './connect.ts'

const log = pino({ level: 'silent' })
let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'earshot-connect-'))
})

afterAll(() => rm(dataDir, { recursive: true, force: true }))

const common = () => ({ dataDir, log, databaseUrl: undefined })

test('one process serves a data directory; commands work next to it', async () => {
  const serving = await connectDatabase({ ...common(), applicationName: 'earshot serve', exclusive: 'required' })
  try {
    await expect(
      connectDatabase({ ...common(), applicationName: 'earshot serve', exclusive: 'required' }),
    ).rejects.toThrow(`${dataDir} is in use by earshot serve (pid ${process.pid})`)

    const beside = await connectDatabase({ ...common(), applicationName: 'earshot jobs', exclusive: 'preferred' })
    expect(beside.exclusive).toBe(false)
    await beside.close()

    const client = new pg.Client(serving.connection)
    await client.connect()
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await client.end()
  } finally {
    await serving.close()
  }
})

const urlOf = ({ connection }: TestDatabase, database?: string): string => {
  const { host, port, user, password, database: own } = new pg.Client(connection)
  const url = new URL(`postgresql://localhost:${port}/${database ?? own}`)
  url.username = user ?? ''
  url.password = typeof password === 'string' ? password : ''
  url.searchParams.set('host', host)
  return url.href
}

test('an external server is used as it is, and an unknown database is reported without the URL', async () => {
  const database = await testDatabase({ empty: true })
  const external = { ...common(), applicationName: 'earshot serve', exclusive: 'required' as const }
  try {
    const connected = await connectDatabase({ ...external, databaseUrl: urlOf(database) })
    expect(connected.exclusive).toBe(true)
    const client = new pg.Client(connected.connection)
    await client.connect()
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await client.end()
    await connected.close()
    await expect(connectDatabase({ ...external, databaseUrl: urlOf(database, 'absent') })).rejects.toThrow(
      'The database in DATABASE_URL cannot be reached: database "absent" does not exist',
    )
  } finally {
    await database.drop()
  }
})

test('a server without a pooler is checked with one connection', async () => {
  const database = await testDatabase({ empty: true })
  onTestFinished(database.drop)
  const url = new URL(urlOf(database))
  const host = url.searchParams.get('host') ?? ''
  const port = Number(url.port)
  const proxy = await listen(
    createServer((client) => {
      const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port })
      client.on('error', () => {}).pipe(server)
      server.on('error', () => {}).pipe(client)
    }),
  )
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${proxy.port}`
  const external = { ...common(), applicationName: 'earshot serve', exclusive: 'required' as const }
  const connected = await connectDatabase({ ...external, databaseUrl: url.href })
  await connected.close()
  expect(proxy.connections()).toBe(1)
})

/** Forwards statements from any number of connections to one session, as a transaction pooler does. */
const openPooler = async (connection: pg.ClientConfig) => {
  const session = new pg.Client(connection)
  session.on('error', () => {})
  await session.connect()
  const { stream } = session.connection
  let current: Socket | undefined
  stream.removeAllListeners('data').on('data', (answer) => current?.write(answer))
  const { port } = await listen(
    createServer((client) => {
      client.on('error', () => {})
      client.once('data', () => {
        // These messages mean that the client is authenticated and that the server is ready for queries.
        client.write(Buffer.from('520000000800000000' + '5a0000000549', 'hex'))
        client.on('data', (message) => {
          if (message[0] === 'X'.charCodeAt(0)) return client.end()
          current = client
          stream.write(message)
        })
      })
    }),
  )
  onTestFinished(() => void stream.destroy())
  return `postgres://anybody@127.0.0.1:${port}/any`
}

test('a pooler that shares sessions between connections is rejected', async () => {
  const database = await testDatabase({ empty: true })
  onTestFinished(database.drop)
  const databaseUrl = await openPooler(database.connection)
  await expect(
    connectDatabase({ ...common(), applicationName: 'earshot serve', exclusive: 'required', databaseUrl }),
  ).rejects.toThrow('Set it to session mode')
})

test('such a pooler is also rejected for a read replica, which can otherwise be unreachable', async () => {
  const switches = await switchesOnTestDatabase()
  const database = await testDatabase({ empty: true })
  onTestFinished(database.drop)
  const list = (url: string) => runInOne(['jobs', 'list'], { ...switches, EARSHOT_READ_DATABASE_URL: url })
  const refused = await list(await openPooler(database.connection))
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('The connection pooler of EARSHOT_READ_DATABASE_URL')
  expect(await list(switches.DATABASE_URL)).toMatchObject({ code: 0 })
  expect(await list(`postgres://anybody@127.0.0.1:${await takeFreePort()}/any`)).toMatchObject({ code: 0 })
})

test('waits for an external server that is not up yet', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const address = closed.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  await new Promise((resolve) => closed.close(resolve))

  const options = { ...common(), applicationName: 'earshot serve', exclusive: 'required' as const }
  const refused = connectDatabase({ ...options, databaseUrl: `postgresql://a:b@127.0.0.1:${address.port}/c` })
  const settled = expect(refused).rejects.toThrow('cannot be reached: Connection terminated unexpectedly')
  // The server now accepts the connection and then closes it. The client must not retry in that case.
  const late = createServer((socket) => socket.destroy()).listen(address.port, '127.0.0.1')
  await settled
  await new Promise((resolve) => late.close(resolve))
})
