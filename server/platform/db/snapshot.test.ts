import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { testDatabase } from '../../../test/database.ts'
import { openDatabase } from './database.ts'
import { logPosition, openSnapshot } from './snapshot.ts'

const { connection, drop } = await testDatabase()
const database = openDatabase({ connection, applicationName: 'test' })
afterAll(async () => {
  await database.close()
  await drop()
})

const open = async () => {
  const snapshot = await openSnapshot(connection, { applicationName: 'snapshot' })
  if (!snapshot) throw new Error('It waited for nothing')
  return snapshot
}

/** Collects the only field of each tuple as text. */
const collect = () => {
  const texts: string[] = []
  const take = (view: DataView, at: number, end: number) => {
    expect(view.getInt16(at)).toBe(1)
    const bytes = view.getInt32(at + 2)
    expect(at + 6 + Math.max(0, bytes)).toBe(end)
    texts.push(bytes < 0 ? 'null' : Buffer.from(view.buffer, view.byteOffset + at + 6, bytes).toString())
  }
  return { texts, take }
}

it('returns every tuple completely, however the bytes arrive', async () => {
  const snapshot = await open()
  for (const [query, expected] of [
    ["SELECT 'x' WHERE false", []],
    ["SELECT 'x'::text", ['x']],
    ['SELECT NULL::text', ['null']],
    // There are thousands of small tuples, and some that are larger than what a socket returns at once.
    ['SELECT n::text FROM generate_series(1, 50000) n', Array.from({ length: 50_000 }, (_, at) => String(at + 1))],
    [
      "SELECT repeat('ä', n * 40000) FROM generate_series(0, 9) n",
      Array.from({ length: 10 }, (_, at) => 'ä'.repeat(at * 40_000)),
    ],
  ] as const) {
    const { texts, take } = collect()
    await snapshot.copy(query, take)
    expect(texts).toEqual(expected)
  }
  expect(await snapshot.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  await snapshot.close()
})

it('reads one state of the database', async () => {
  const { db } = database
  await sql`CREATE TABLE things AS SELECT 1 AS thing`.execute(db)
  const snapshot = await open()
  const things = () => snapshot.query('SELECT thing FROM things')
  expect(await things()).toEqual([{ thing: 1 }])
  await sql`UPDATE things SET thing = 2`.execute(db)
  expect(await things()).toEqual([{ thing: 1 }])
  await expect(snapshot.query('UPDATE things SET thing = 3')).rejects.toThrow('read-only transaction')
  await snapshot.close()
})

it('fails with errors of the database, of its reader, and when the connection is lost', async () => {
  const wrong = await open()
  const { texts, take } = collect()
  await expect(wrong.copy('SELECT (1 / (30000 - n))::text FROM generate_series(1, 50000) n', take)).rejects.toThrow(
    'division by zero',
  )
  expect(texts.length).toBeGreaterThan(1_000)
  await wrong.close()

  const thrown = await open()
  const refuse = () => {
    throw new Error('enough')
  }
  await expect(thrown.copy('SELECT n FROM generate_series(1, 50000) n', refuse)).rejects.toThrow('enough')
  expect(await thrown.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  await thrown.close()

  const lost = await open()
  await expect(lost.copy('SELECT pg_terminate_backend(pg_backend_pid())', () => {})).rejects.toThrow(/terminat/)
  await lost.close()
})

it('does not wait for a server that follows no other', async () => {
  const position = await logPosition(connection, 'snapshot')
  expect(position).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/)
  const snapshot = await openSnapshot(connection, {
    applicationName: 'snapshot',
    wait: { position: 'FFFFFFFF/0', timeoutMs: 0 },
  })
  expect(snapshot).toBeDefined()
  await snapshot?.close()
})
