import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { testDatabase } from '../../../test/database.ts'
import { processIdOf, readerOf } from './pg-internals.ts'

const { connection, drop } = await testDatabase()
const client = new pg.Client(connection)
await client.connect()
afterAll(async () => {
  await client.end()
  await drop()
})

it('finds the one listener with which pg reads its connection', async () => {
  const submitted = Promise.withResolvers<unknown>()
  const query = {
    submit: (opened: pg.Connection) => {
      submitted.resolve(readerOf(opened))
      opened.query('SELECT 1')
      return undefined
    },
    handleRowDescription: () => {},
    handleDataRow: () => {},
    handleCommandComplete: () => {},
    handleError: submitted.reject,
    handleReadyForQuery: () => {},
  }
  client.query(query)
  expect(await submitted.promise).toBeTypeOf('function')
})

it('finds the process of the server session', async () => {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  expect(processIdOf(client)).toBe(rows[0]?.pid)
})
