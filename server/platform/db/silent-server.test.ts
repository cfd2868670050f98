import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { behindPassage, testDatabase } from '../../../test/database.ts'
import { openDatabase } from './database.ts'
import { isPassingDatabaseError } from './errors.ts'

it('a connection on which nothing passes any more is given up, and not used again', async () => {
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
