import { loadConfig } from '../platform/config.ts'
import type { RunCommand } from './call.ts'
import { connectAndMigrate } from './open.ts'

export const run: RunCommand = async () => {
  const database = await connectAndMigrate(loadConfig(), { command: 'migrate', exclusive: 'preferred' })
  await database.close()
  process.stdout.write('The database schema is up to date.\n')
  return 0
}
