import { parseArgs } from 'node:util'
import type { Command } from '../main.ts'
import { open } from './open.ts'

const usage = `Usage:
  earshot migrate   bring the database to the schema of this version, as serve does by itself
`

export const run: Command = async (args) => {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean' } } })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const { close } = await open({ command: 'migrate', exclusive: 'preferred' })
  await close()
  process.stdout.write('The database is at the schema of this version.\n')
  return 0
}
