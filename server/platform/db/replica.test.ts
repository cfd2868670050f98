import { sql } from 'kysely'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { behindPassage, databaseUrl, testDatabase } from '../../../test/database.ts'
import { openLog } from '../log.ts'
import { type Db, openDatabase } from './database.ts'
import { openReplica } from './replica.ts'

const { connection, drop } = await testDatabase({ empty: true })
const database = openDatabase({ connection, applicationName: 'primary' })
afterAll(async () => {
  await database.close()
  await drop()
})

const open = (url: string | undefined, maxLagMs = 5_000) => {
  const logged: string[] = []
  const log = openLog({ write: (line) => logged.push(JSON.parse(line).msg) })
  const replica = openReplica({ url, maxLagMs, primary: database.db, applicationName: 'test', traced: false, log })
  onTestFinished(replica.close)
  return { logged, read: replica.read }
}

const whoAnswers = async (db: Db) => {
  const { rows } = await sql<{ name: string }>`SELECT current_setting('application_name') AS name`.execute(db)
  return rows[0]?.name
}

const unused = 'the replica is too far behind or does not answer: analytics read the primary'

it('is the primary where there is none, or none may be used', async () => {
  for (const { read, logged } of [open(undefined), open(databaseUrl(connection), 0)]) {
    expect(await read(whoAnswers)).toBe('primary')
    expect(logged).toEqual([])
  }
})

it('is not a server that follows no other: how far behind it is cannot be known', async () => {
  const { read, logged } = open(databaseUrl(connection))
  expect(await read(whoAnswers)).toBe('primary')
  expect(await read(whoAnswers)).toBe('primary')
  expect(logged).toEqual([unused])
})

it('is the primary while it does not answer, which delays no more than a first read', async () => {
  const { passage, connection: silent } = await behindPassage(connection)
  const user = silent.user ?? ''
  const { read, logged } = open(`postgres://${user}@127.0.0.1:${silent.port}/${silent.database}`)
  passage.become({ kind: 'silent' })
  expect(await read(whoAnswers)).toBe('primary')
  const beganAt = performance.now()
  for (let at = 0; at < 10; at++) expect(await read(whoAnswers)).toBe('primary')
  // Each would wait for a second if it asked.
  expect(performance.now() - beganAt).toBeLessThan(1_000)
  expect(logged).toEqual([unused])
  passage.reset()
})

it('tells what is wrong with a read itself', async () => {
  const { read } = open(databaseUrl(connection))
  await expect(read((db) => sql`SELECT 1 / 0`.execute(db))).rejects.toThrow('division by zero')
})
