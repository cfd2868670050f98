// Opens a queue on a separate database, and waits for conditions.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../../server/platform/db/database.ts'
import { type Jobs, openJobs } from '../../../server/platform/jobs/queue.ts'
import { testDatabase } from '../../database.ts'
import { quietLog } from './quiet-log.ts'

/** Polls, because another process meets the condition, or the queue does at a time that it chooses. */
export const eventually = async <T>(what: string, read: () => Promise<T | undefined | false>, timeoutMs = 10_000) => {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await read()
    if (value) return value
    if (Date.now() > deadline) throw new Error(`In ${timeoutMs} ms this did not come about: ${what}`)
    await sleep(20)
  }
}

export const openTestQueue = async () => {
  const { connection, drop } = await testDatabase()
  const database = openDatabase({ connection, applicationName: 'jobs test' })
  const opened: Jobs[] = []
  const open = async () => {
    const another = openJobs({ database, log: quietLog() })
    opened.push(another)
    return another
  }
  await sql`CREATE TABLE effects (id integer GENERATED ALWAYS AS IDENTITY, note text NOT NULL)`.execute(database.db)
  return {
    connection,
    database,
    db: database.db,
    jobs: await open(),
    /** Opens another queue on the same database, as another process would. */
    open,
    close: async () => {
      for (const each of opened) await each.close()
      await database.close()
      await drop()
    },
  }
}
