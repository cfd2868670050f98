import { sql } from 'kysely'
import { afterAll, expect, it, vi } from 'vitest'
import { testDatabase } from '../../../test/database.ts'
import { type Db, openDatabase } from './database.ts'
import { isPassingDatabaseError } from './errors.ts'
import { prepared } from './prepared.ts'

const { connection, drop } = await testDatabase({ empty: true })
const database = openDatabase({ connection, applicationName: 'test', pipelined: true })
const { db } = database
afterAll(async () => {
  await database.close()
  await drop()
})

const pid = sql<number>`pg_backend_pid()`.as('pid')
const lookUp = prepared((on: Db, value: number) => on.selectNoFrom([pid, sql<number>`${value}::int`.as('value')]))
const divide = prepared((on: Db, by: number) => on.selectNoFrom(sql<number>`1 / ${by}::int`.as('result')))
const sleep = prepared((on: Db, seconds: number) => on.selectNoFrom(sql`pg_sleep(${seconds}::float)`.as('slept')))

const lookUpMany = () => Promise.all(Array.from({ length: 40 }, (_, value) => lookUp(db, value)))

/** Returns the pipeline's session when it is open. No other session runs 40 statements at once. */
const openedSession = () =>
  vi.waitFor(async () => {
    const sessions = new Set((await lookUpMany()).map(([row]) => row?.pid))
    expect(sessions.size).toBe(1)
    return [...sessions][0] ?? 0
  })

it('many lookups at once share a connection, and each gets its own response', async () => {
  const session = await openedSession()
  const rows = (await lookUpMany()).flat()
  expect(rows).toEqual(Array.from({ length: 40 }, (_, value) => ({ pid: session, value })))
})

it('a statement that fails does not affect the others', async () => {
  await openedSession()
  const answers = await Promise.allSettled([lookUp(db, 1), divide(db, 0), lookUp(db, 2), divide(db, 1)])
  expect(answers).toMatchObject([
    { value: [{ value: 1 }] },
    { status: 'rejected', reason: { code: '22012' } },
    { value: [{ value: 2 }] },
    { value: [{ result: 1 }] },
  ])
})

it('behind a slow statement, the pool is used', async () => {
  const session = await openedSession()
  let isAsleep = true
  const slept = sleep(db, 20).catch((error) => error.code)
  slept.then(() => {
    isAsleep = false
  })
  // The first statements are sent before the pipeline counts as slow.
  const early = lookUp(db, 0)
  await vi.waitFor(async () => {
    const found = await Promise.race([lookUp(db, 1), new Promise<[]>((resolve) => setTimeout(() => resolve([]), 20))])
    expect(found[0]?.pid).toSatisfy((used) => used > 0 && used !== session)
  })
  expect(isAsleep).toBe(true)
  await sql`SELECT pg_cancel_backend(${session})`.execute(db)
  expect(await slept).toBe('57014')
  expect(await early).toEqual([{ pid: session, value: 0 }])
})

it('a lost connection rejects what it was running, and is replaced', async () => {
  const session = await openedSession()
  const lost = [sleep(db, 20), lookUp(db, 1)].map((one) => one.then(() => 'answered', isPassingDatabaseError))
  await sql`SELECT pg_terminate_backend(${session})`.execute(db)
  expect(await Promise.all(lost)).toEqual([true, true])
  expect(await lookUp(db, 2)).toMatchObject([{ value: 2 }])
  expect(await openedSession()).not.toBe(session)
})

it('closing waits for the responses', async () => {
  const other = openDatabase({ connection, applicationName: 'test', pipelined: true })
  await vi.waitFor(async () => {
    const used = await Promise.all([lookUp(other.db, 1), lookUp(other.db, 2)])
    expect(used[0]?.[0]?.pid).toBe(used[1]?.[0]?.pid)
  })
  const asked = lookUp(other.db, 3)
  await other.close()
  expect(await asked).toMatchObject([{ value: 3 }])
})
