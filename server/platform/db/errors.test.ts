import { once } from 'node:events'
import { createServer } from 'node:net'
import pg from 'pg'
import { expect, it } from 'vitest'
import { isPassingDatabaseError } from './errors.ts'

const failureOf = async (config: pg.ClientConfig): Promise<unknown> => {
  const client = new pg.Client({ user: 'nobody', database: 'nothing', connectionTimeoutMillis: 10_000, ...config })
  client.on('error', () => {})
  return client.connect().then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Where nothing listens. */
const closedPort = async (): Promise<number> => {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

it('a database that is away passes, however that shows', async () => {
  const port = await closedPort()
  expect(isPassingDatabaseError(await failureOf({ host: '127.0.0.1', port }))).toBe(true)
  // The name ends in what never resolves.
  expect(isPassingDatabaseError(await failureOf({ host: 'database.invalid', port }))).toBe(true)
  const each = [await failureOf({ host: '127.0.0.1', port }), await failureOf({ host: '127.0.0.2', port })]
  expect(isPassingDatabaseError(new AggregateError(each))).toBe(true)
})

it('anything else does not', () => {
  expect(isPassingDatabaseError(new Error('no'))).toBe(false)
  expect(isPassingDatabaseError(new AggregateError([new Error('no')]))).toBe(false)
  expect(isPassingDatabaseError(Object.assign(new Error('no file'), { code: 'ENOENT', syscall: 'open' }))).toBe(false)
  expect(isPassingDatabaseError(undefined)).toBe(false)
})
