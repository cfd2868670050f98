import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { behindPassage, testDatabase } from '../../../test/database.ts'
import { type Db, openDatabase } from './database.ts'
import { isPassingDatabaseError } from './errors.ts'
import { takesLong } from './naming-client.ts'
import { prepared } from './prepared.ts'

it('a connection without any traffic is given up, and not used again', async () => {
  const { connection: direct, drop } = await testDatabase({ empty: true })
  const { passage, connection } = await behindPassage(direct)
  const database = openDatabase({ connection, applicationName: 'test', poolSize: 1, answerTimeoutMs: 300 })
  try {
    const ask = () => sql`SELECT 1`.execute(database.db)
    await ask()
    passage.forget()
    await expect(ask()).rejects.toSatisfy(isPassingDatabaseError)
    await ask()
    const transaction = database.db.transaction().execute(async (trx) => {
      passage.forget()
      await sql`SELECT 1`.execute(trx)
    })
    await expect(transaction).rejects.toSatisfy(isPassingDatabaseError)
    await ask()
  } finally {
    await database.close()
    await drop()
  }
})

it('a connection that the server ends is not used afterwards, and its reason is reported', async () => {
  const { connection, drop } = await testDatabase({ empty: true })
  const database = openDatabase({ connection, applicationName: 'test', poolSize: 1 })
  const { db } = database
  const endThis = sql`pg_terminate_backend(pg_backend_pid())`
  const end = sql`SELECT ${endThis}`
  const endPrepared = prepared((on: Db) => on.selectNoFrom(endThis.as('ended')))
  const isUsable = async () =>
    expect((await sql`SELECT 1 AS one`.execute(db)).rows, 'the next to be asked').toEqual([{ one: 1 }])
  try {
    for (const ask of [() => end.execute(db), () => endPrepared(db)]) {
      await expect(ask()).rejects.toMatchObject({ code: '57P01' })
      await isUsable()
    }
    // Rolling back fails on this connection too, and that error must be recognized.
    const transaction = db.transaction().execute((trx) => end.execute(trx))
    await expect(transaction).rejects.toSatisfy(isPassingDatabaseError)
    await isUsable()
  } finally {
    await database.close()
    await drop()
  }
})

it('a statement that may take long is waited for', async () => {
  const { connection, drop } = await testDatabase({ empty: true })
  const database = openDatabase({ connection, applicationName: 'test', poolSize: 1, answerTimeoutMs: 300 })
  const sleep = (mark: string) => sql`SELECT ${1}::integer AS one, pg_sleep(0.6) ${sql.raw(mark)}`.execute(database.db)
  try {
    expect((await sleep(takesLong)).rows).toMatchObject([{ one: 1 }])
    await expect(sleep('')).rejects.toSatisfy(isPassingDatabaseError)
  } finally {
    await database.close()
    await drop()
  }
})
