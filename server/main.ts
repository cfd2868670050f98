import packageFile from '../package.json' with { type: 'json' }
import { ConfigError } from './config.ts'

/** A command takes its arguments and answers the exit code. Each is loaded only when it is called. */
export type Command = (args: string[]) => Promise<number>

const commands: Record<string, { summary: string; load: () => Promise<{ run: Command }> }> = {
  serve: { summary: 'serve requests and work through jobs', load: () => import('./commands/serve.ts') },
  demo: {
    summary: 'serve, with an organization full of invented conversations',
    load: () => import('./commands/demo.ts'),
  },
  migrate: { summary: 'bring the database to the schema of this version', load: () => import('./commands/migrate.ts') },
  keys: {
    summary: 'make and revoke keys: keys service, keys owner, keys revoke',
    load: () => import('./commands/keys.ts'),
  },
  link: {
    summary: 'make a one-time link by which an owner or member joins or sets a new password',
    load: () => import('./commands/link.ts'),
  },
  export: {
    summary: 'ask a service for a file of results and download it',
    load: () => import('./commands/export.ts'),
  },
  jobs: { summary: 'list and retry dead jobs: jobs list, jobs retry', load: () => import('./commands/jobs.ts') },
  doctor: { summary: 'check what the service needs', load: () => import('./commands/doctor.ts') },
}

const usage = (): string => {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}`)
  return `Usage: earshot <command> [options]\n\n${lines.join('\n')}\n\nAdd --help to a command for its options.\n`
}

/** 0 done, 1 failed, 2 called wrongly or wrongly configured. */
const main = async ([name = 'help', ...args]: string[]): Promise<number> => {
  if (name === 'help' || name === '--help') {
    process.stdout.write(usage())
    return 0
  }
  if (name === '--version') {
    process.stdout.write(`${packageFile.version}\n`)
    return 0
  }
  if (name === 'warm' && args.length === 0) {
    // Run by npm after an install: with all code in the compile cache, the first start is as quick as later ones.
    for (const { load } of Object.values(commands)) await load()
    return 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    process.stderr.write(`earshot: there is no command ${JSON.stringify(name)}.\n\n${usage()}`)
    return 2
  }
  try {
    return await (await command.load()).run(args)
  } catch (error) {
    const wronglyCalled = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(`earshot: ${error instanceof Error ? error.message : String(error)}\n`)
    if (wronglyCalled) process.stderr.write(`See earshot ${name} --help.\n`)
    return wronglyCalled || error instanceof ConfigError ? 2 : 1
  }
}

process.exitCode = await main(process.argv.slice(2))
