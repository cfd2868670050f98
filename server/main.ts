import packageFile from '../package.json' with { type: 'json' }
import { readCall, type Spec, WronglyCalled } from './commands/call.ts'
import { plainLines } from './commands/columns.ts'
import { commands } from './commands/table.ts'
import { usageOf, usageOfAll } from './commands/usage.ts'
import { ConfigError } from './platform/config.ts'

const exitCodeOf = (error: unknown): number => {
  const isParsing = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') ?? false
  // Invalid requests to the service are usage errors of the command.
  const isInvalid = (error as { status?: number }).status === 400
  return isParsing || isInvalid || error instanceof WronglyCalled || error instanceof ConfigError ? 2 : 1
}

/** 0 success, 1 failure, 2 invalid usage or configuration; docs/command-line.md lists the others. */
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
    // Run by npm after installing: with all code in the compile cache, the first start is as fast as later ones.
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
    // Shows the original error, not a later one from closing.
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

/** The reader may stop early, as `head` does, or a disk may be full. The work is done anyway. */
const ignoreEnd = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE' && error.code !== 'ENOSPC') throw error
}
process.stdout.on('error', ignoreEnd)
process.stderr.on('error', ignoreEnd)

process.exitCode = await main(process.argv.slice(2))
