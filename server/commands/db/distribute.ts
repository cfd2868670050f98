import { loadConfig } from '../../config.ts'
import { connectDatabase } from '../../platform/db/connect.ts'
import { distribute } from '../../platform/db/distribute.ts'
import { requireMigrated } from '../../platform/db/migrate.ts'
import { openLog } from '../../platform/log.ts'
import type { Run } from '../call.ts'
import { print } from '../columns.ts'

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
