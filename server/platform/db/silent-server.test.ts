import { sql } from 'kysely'
import pg from 'pg'
import { expect, it } from 'vitest'
import { testDatabase } from '../../../test/database.ts'
import { openPassage } from '../../../test/faults/passage.ts'
import { openDatabase } from './database.ts'
import { isPassingDatabaseError } from './errors.ts'

it('a connection on which nothing passes any more is given up, and not used again', async () => {
  const { connection, drop } = await testDatabase({ empty: true })
  const { host, port, user, password, database: name } = new pg.Client(connection)
  const passage = await openPassage(() =>
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  )
  const through = { host: '127.0.0.1', port: passage.port, user, password, database: name, ssl: false }
  const database = openDatabase({ connection: through, applicationName: 'test', poolSize: 1, answerTimeoutMs: 300 })
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
