import pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { behindPassage, type TestDatabase, testDatabase } from '../../../test/database.ts'
import { sound } from '../../../test/passage.ts'
import { type Listener, openListener } from './listen.ts'

const log = pino({ level: 'silent' })

let database: TestDatabase
let sender: pg.Client
const opened: Listener[] = []

beforeAll(async () => {
  database = await testDatabase({ empty: true })
  sender = new pg.Client(database.connection)
  await sender.connect()
})

afterEach(async () => {
  for (const listener of opened.splice(0)) await listener.close()
})

afterAll(async () => {
  await sender.end()
  await database.drop()
})

const open = async (connection: pg.ClientConfig = database.connection) => {
  const listener = await openListener({ ...connection, application_name: 'listener under test' }, log)
  opened.push(listener)
  return listener
}

const notify = (channel: string, payload: string) => sender.query('SELECT pg_notify($1, $2)', [channel, payload])

const cut = () =>
  sender.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listener under test'`)

test('each handler gets the notifications of its channel, and a failing one does not affect others', async () => {
  const listener = await open()
  const got: string[] = []
  await listener.on('keys', () => {
    throw new Error('broken')
  })
  await listener.on('keys', (payload) => got.push(`keys ${payload}`))
  await listener.on('Odd "channel"', (payload) => got.push(`odd ${payload}`))
  await notify('keys', '1')
  await notify('elsewhere', '2')
  await notify('Odd "channel"', '3')
  await expect.poll(() => got).toEqual(['keys 1', 'odd 3'])
})

test('a lost connection is restored, notifies its subscribers, and has all channels again', async () => {
  const listener = await open()
  const got: string[] = []
  const reconnected = vi.fn()
  await listener.on('keys', (payload) => got.push(payload), reconnected)
  await listener.on('organizations', (payload) => got.push(payload), reconnected)
  expect(reconnected).not.toHaveBeenCalled()
  await cut()
  await vi.waitFor(() => expect(reconnected).toHaveBeenCalledTimes(2), { timeout: 10_000 })
  expect(listener.isConnected()).toBe(true)
  await notify('keys', 'a')
  await notify('organizations', 'b')
  await expect.poll(() => got).toEqual(['a', 'b'])
})

test('a closed one is silent and is not restored', async () => {
  const listener = await open()
  await listener.close()
  expect(listener.isConnected()).toBe(false)
  const connections = () =>
    sender.query(`SELECT FROM pg_stat_activity WHERE application_name = 'listener under test'`).then(({ rows }) => rows)
  await expect.poll(connections).toEqual([])
})

test('the caller handles a failure of the first connection', async () => {
  await expect(openListener({ host: '/nowhere', user: 'nobody' }, log)).rejects.toThrow('ENOENT')
})

test('a connection that dies silently is detected within 5 s', async () => {
  const { passage, connection } = await behindPassage(database.connection)
  const listener = await open(connection)
  const reconnected = vi.fn()
  await listener.on('keys', () => {}, reconnected)
  passage.forget()
  passage.become({ kind: 'silent' })
  await vi.waitFor(() => expect(listener.isConnected()).toBe(false), { timeout: 9_000 })
  passage.become(sound)
  await vi.waitFor(() => expect(reconnected).toHaveBeenCalledOnce(), { timeout: 8_000 })
  await listener.close()
})
