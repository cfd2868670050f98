import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/database.ts'
import { openDatabase } from './database.ts'
import { migrate, pendingMigrations, requireMigrated } from './migrate.ts'

const log = pino({ level: 'silent' })

let database: TestDatabase
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-migrations-'))
  database = await testDatabase({ empty: true })
})

afterEach(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const write = (name: string, text: string) => writeFile(join(folder, name), text)

const run = () => migrate(database.connection, { log, folder })

const query = async (text: string) => {
  const client = new pg.Client(database.connection)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('files are applied in order, each once, and new ones later', async () => {
  await write('0001_first.sql', 'CREATE TABLE a (n int); INSERT INTO a VALUES (1);')
  await write('0002_second.sql', 'ALTER TABLE a ADD COLUMN m int; UPDATE a SET m = n + 1;')
  expect(await run()).toEqual(['0001_first.sql', '0002_second.sql'])
  expect(await run()).toEqual([])
  await write('0003_third.sql', 'INSERT INTO a VALUES (5, 6)')
  expect(await run()).toEqual(['0003_third.sql'])
  expect(await query('SELECT n, m FROM a ORDER BY n')).toEqual([
    { n: 1, m: 2 },
    { n: 5, m: 6 },
  ])
})

test('concurrent processes all succeed, and each file is applied once', async () => {
  await write('0001_first.sql', 'CREATE TABLE a (n int); SELECT pg_sleep(0.05);')
  await write('0002_second.sql', 'INSERT INTO a VALUES (1)')
  const done = await Promise.all(Array.from({ length: 6 }, () => run()))
  expect(done.flat().sort()).toEqual(['0001_first.sql', '0002_second.sql'])
  expect(await query('SELECT n FROM a')).toEqual([{ n: 1 }])
})

test('a file that fails is rolled back, keeps those before it, and can be run again', async () => {
  await write('0001_first.sql', 'CREATE TABLE a (n int)')
  await write('0002_second.sql', 'CREATE TABLE b (n int); SELECT 1 / 0;')
  await expect(run()).rejects.toThrow('0002_second.sql failed: division by zero')
  expect(await query(`SELECT to_regclass('a')::text AS a, to_regclass('b')::text AS b`)).toEqual([{ a: 'a', b: null }])
  await write('0002_second.sql', 'CREATE TABLE b (n int)')
  expect(await run()).toEqual(['0002_second.sql'])
})

test('a changed file, a newer database, and a number out of order are rejected, other line ends are not', async () => {
  await write('0002_second.sql', 'CREATE TABLE a (\n  n int\n)')
  await run()
  await write('0002_second.sql', 'CREATE TABLE a (\r\n  n int\r\n)')
  expect(await run()).toEqual([])
  await write('0002_second.sql', 'CREATE TABLE a (n bigint)')
  await expect(run()).rejects.toThrow('0002_second.sql was changed after this database applied it')
  await write('0002_second.sql', 'CREATE TABLE a (\n  n int\n)')
  await write('0001_late.sql', 'SELECT 1')
  await expect(run()).rejects.toThrow('0001_late.sql comes before 0002_second.sql')
  await rm(join(folder, '0001_late.sql'))
  await rm(join(folder, '0002_second.sql'))
  await expect(run()).rejects.toThrow('contains 0002_second.sql, which this version does not know')
})

test('names with an ambiguous order are rejected', async () => {
  await write('0001_first.sql', 'SELECT 1')
  await write('0001_other.sql', 'SELECT 1')
  await expect(run()).rejects.toThrow('0001_first.sql and 0001_other.sql have the same number')
  await rm(join(folder, '0001_other.sql'))
  await write('2-second.sql', 'SELECT 1')
  await expect(run()).rejects.toThrow('2-second.sql must have a name like')
})

test('pending files are listed without applying them', async () => {
  await write('0001_first.sql', 'CREATE TABLE a (n int)')
  const { db, close } = openDatabase({ connection: database.connection, applicationName: 'test' })
  try {
    expect(await pendingMigrations(db, folder)).toEqual(['0001_first.sql'])
    await run()
    expect(await pendingMigrations(db, folder)).toEqual([])
    await rm(join(folder, '0001_first.sql'))
    await expect(pendingMigrations(db, folder)).rejects.toThrow('which this version does not know')
  } finally {
    await close()
  }
})

test('an outdated database is rejected and stays unchanged', async () => {
  const require = () => requireMigrated(database.connection, folder)
  const first = 'Start the service or run bin/earshot migrate first.'
  await write('0001_first.sql', 'CREATE TABLE a (n int)')
  await expect(require()).rejects.toThrow(`The database contains no Earshot schema yet. ${first}`)
  expect(await query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).toEqual([])
  await run()
  await require()
  await write('0002_second.sql', 'CREATE TABLE b (n int)')
  await expect(require()).rejects.toThrow(`0002_second.sql is not applied yet. ${first}`)
  expect(await query(`SELECT to_regclass('b') AS b`)).toEqual([{ b: null }])
  await rm(join(folder, '0001_first.sql'))
  await expect(require()).rejects.toThrow('which this version does not know')
})

test("the product's migrations create the template that tests clone", async () => {
  const clone = await testDatabase()
  try {
    expect(await migrate(clone.connection, { log })).toEqual([])
  } finally {
    await clone.drop()
  }
})
