import { loadConfig } from '../../config.ts'
import { connectDatabase } from '../../platform/db/connect.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { distribute } from '../../platform/db/distribute.ts'
import { pendingMigrations } from '../../platform/db/migrate.ts'
import { openLog } from '../../platform/log.ts'
import type { Run } from '../call.ts'
import { print } from '../columns.ts'

const requireMigrated = async (connection: Parameters<typeof openDatabase>[0]['connection']): Promise<void> => {
  const { db, close } = openDatabase({ connection, applicationName: 'earshot db distribute', poolSize: 1 })
  try {
    const pending = await pendingMigrations(db)
    if (pending.length > 0) throw new Error(`${pending.join(', ')} is not applied yet. Run bin/earshot migrate first.`)
  } finally {
    await close()
  }
}

export const run: Run = async ({ flag }) => {
  const { databaseUrl, dataDir } = loadConfig()
  if (!databaseUrl)
    throw new Error('Set DATABASE_URL to a database with Citus: the embedded one cannot be distributed.')
  const dryRun = flag('dry-run')
  const applicationName = 'earshot db distribute'
  const { connection, close } = await connectDatabase({
    ...{ databaseUrl, dataDir, applicationName, log: openLog(), exclusive: 'preferred' },
  })
  try {
    await requireMigrated(connection)
    const count = await distribute(connection, { dryRun, onStatement: ({ text }) => print(`${text};\n`) })
    if (count === 0) return print('Every table lies where it should.\n')
    return dryRun ? 0 : print(`${count} tables were placed.\n`)
  } finally {
    await close()
  }
}
