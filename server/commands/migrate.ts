import { loadConfig } from '../platform/config.ts'
import type { Run } from './call.ts'
import { connectAndMigrate } from './open.ts'

export const run: Run = async () => {
  const database = await connectAndMigrate(loadConfig(), { command: 'migrate', exclusive: 'preferred' })
  await database.close()
  process.stdout.write('The database schema is up to date.\n')
  return 0
}
