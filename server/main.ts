import packageFile from '../package.json' with { type: 'json' }
import { readCall, type Spec, WronglyCalled } from './commands/call.ts'
import { plainLines } from './commands/columns.ts'
import { commands } from './commands/table.ts'
import { usageOf, usageOfAll } from './commands/usage.ts'
import { ConfigError } from './platform/config.ts'

const exitCodeOf = (error: unknown): number => {
  const isParsing = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') ?? false
  // If the service rejects a request as invalid, the command was used incorrectly.
  const isInvalid = (error as { status?: number }).status === 400
  return isParsing || isInvalid || error instanceof WronglyCalled || error instanceof ConfigError ? 2 : 1
}

/**
 * Returns 0 for success, 1 for failure, and 2 for invalid usage or configuration. docs/command-line.md lists the other
 * codes.
 */
const main = async ([name = 'help', ...args]: string[]): Promise<number> => {
  const [about] = args
  if (name === 'help' && about !== undefined && about !== '--help') return main([about, '--help'])
  if (name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(usageOfAll(commands))
    return 0
  }
  if (name === '--version') {
    process.stdout.write(`${packageFile.version}\n`)
    return 0
  }
  if (name === 'warm' && args.length === 0) {
    // npm runs this after installation. It fills the compile cache, so that the first start is as fast as later ones.
    for (const { load } of Object.values(commands)) await load()
    return 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    process.stderr.write(`earshot: unknown command ${JSON.stringify(name)}.\n\n${usageOfAll(commands)}`)
    return 2
  }
  return runCommand(name, command, args)
}

const runCommand = async (name: string, command: Spec, args: string[]): Promise<number> => {
  try {
    const called = readCall(command, args)
    if (called) return await (await command.load()).run(called)
    process.stdout.write(usageOf(name, command))
    return 0
  } catch (thrown) {
    // The original error matters, not a later error from closing.
    let error = thrown
    while (error instanceof SuppressedError) error = error.suppressed
    const code = exitCodeOf(error)
    process.stderr.write(`earshot: ${plainLines(error instanceof Error ? error.message : String(error))}\n`)
    if (error instanceof WronglyCalled && error.tellsUsage) process.stderr.write(`\n${usageOf(name, command)}`)
    else if (code === 2 && !(error instanceof ConfigError))
      process.stderr.write(`Run earshot ${name} --help for help.\n`)
    return code
  }
}

/** Ignores output errors. The reader can stop early, as `head` does, or the disk can be full, but the work is done. */
const ignoreEnd = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE' && error.code !== 'ENOSPC') throw error
}
process.stdout.on('error', ignoreEnd)
process.stderr.on('error', ignoreEnd)

process.exitCode = await main(process.argv.slice(2))
