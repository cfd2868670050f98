import type { Run } from './call.ts'
import { openAndMigrate } from './open.ts'

export const run: Run = async () => {
  const { close } = await openAndMigrate({ command: 'migrate', exclusive: 'preferred' })
  await close()
  process.stdout.write('The database is at the schema of this version.\n')
  return 0
}
