import { parseArgs } from 'node:util'
import type { Command } from '../main.ts'
import { open } from './open.ts'

export const run: Command = async (args) => {
  parseArgs({ args, options: {} })
  const { close } = await open({ command: 'migrate', exclusive: 'preferred' })
  await close()
  process.stdout.write('The database is at the schema of this version.\n')
  return 0
}
