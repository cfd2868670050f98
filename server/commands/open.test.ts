import { access, cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { databaseUrl, testDatabase } from '../../test/database.ts'
import { makeDataDir, runEarshot, runInOne } from '../../test/earshot.ts'
import { openDatabase } from '../platform/db/database.ts'
import { migrate, pendingMigrations } from '../platform/db/migrate.ts'
import { openLog } from '../platform/log.ts'

/** Tests that commands for an existing database neither create nor migrate one. */

const commands = [
  ['doctor'],
  ['jobs', 'list'],
  ['jobs', 'retry', '--all'],
  ['keys', 'service'],
  ['keys', 'owner', 'acme'],
  ['keys', 'revoke', crypto.randomUUID()],
  ['link', 'acme'],
]

const root = join(import.meta.dirname, '../../migrations')
const files = (await readdir(root)).filter((name) => name.endsWith('.sql')).sort()
const last = files.at(-1) ?? ''
const log = openLog({ write: () => {} })

describe('without a database in the data directory', () => {
  it.each(commands.map((args) => ({ args })))('$args says so and creates nothing', async ({ args }) => {
    const empty = await makeDataDir()
    const absent = join(empty, 'absent')
    for (const dataDir of [absent, empty]) {
      const { code, stdout, stderr } = await runInOne(args, { EARSHOT_DATA_DIR: dataDir })
      expect(code).toBe(1)
      expect(stdout + stderr).toContain(`There is no database in ${dataDir}.\n`)
    }
    await expect(access(absent)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await readdir(empty)).toEqual([])
  })
})

/** Creates a database and returns the variables that select it. Commands store their files in `dataDir`. */
const prepare = async (options: { empty?: boolean }) => {
  const { connection, drop } = await testDatabase(options)
  onTestFinished(drop)
  const dataDir = join(await makeDataDir(), 'data')
  const switches = {
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-this-test-0123456789',
    DATABASE_URL: databaseUrl(connection),
  }
  const client = new pg.Client(connection)
  await client.connect()
  onTestFinished(() => client.end())
  return { connection, switches, client }
}

const first = 'Start the service or run bin/earshot migrate first.'

describe('with a database of another version', () => {
  it('every command names a missing migration, and only migrate applies it', async () => {
    const { connection, switches } = await prepare({ empty: true })
    const older = await mkdtemp(join(tmpdir(), 'earshot-older-'))
    onTestFinished(() => rm(older, { recursive: true, force: true }))
    for (const name of files.slice(0, -1)) await cp(join(root, name), join(older, name))
    await migrate(connection, { log, folder: older })
    const { db, close } = openDatabase({ connection, applicationName: 'test' })
    onTestFinished(close)

    for (const args of commands) {
      const { code, stdout, stderr } = await runInOne(args, switches)
      expect(code, args.join(' ')).toBe(1)
      expect(stdout + stderr).toContain(`${last} is not applied yet. ${first}\n`)
      expect(await pendingMigrations(db)).toEqual([last])
    }
    const behind = await runInOne(['doctor'], switches)
    expect(behind.stdout).toMatch(new RegExp(`^FAIL {2}database +${last} is not applied yet`, 'm'))

    expect(await runInOne(['migrate'], switches)).toMatchObject({ code: 0 })
    expect(await pendingMigrations(db)).toEqual([])
    expect(await runInOne(['doctor'], switches)).toMatchObject({ code: 0 })
    expect(await runInOne(['jobs', 'list'], switches)).toMatchObject({ code: 0 })
  })

  it('an empty database is reported and stays empty', async () => {
    const { switches, client } = await prepare({ empty: true })
    const told = `The database contains no Earshot schema yet. ${first}`
    const doctor = await runInOne(['doctor'], switches)
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(told) })
    const key = await runEarshot(['keys', 'service'], switches)
    expect(key).toEqual({ code: 1, stdout: '', stderr: `earshot: ${told}\n` })
    const { rows } = await client.query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
    expect(rows).toEqual([])
  })

  it('a newer database is reported with its newest migration', async () => {
    const { switches, client } = await prepare({})
    await client.query(`INSERT INTO migrations (name, checksum) VALUES ('9999_of_the_next_version.sql', 'x')`)
    const { code, stdout } = await runInOne(['doctor'], switches)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^FAIL {2}database .*9999_of_the_next_version\.sql, which this version does not know/m)
  })
})
