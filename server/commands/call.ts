// Defines how commands are described, and parses their arguments.

import { parseArgs } from 'node:util'

/** `value` is the name of the option's value in the help. An option without it is a flag. */
export type CommandOption = { about: string; value?: string; many?: true; choices?: readonly string[] }

export type Arguments = { name: string; count: 'one' | 'some' | 'any' }

export type Shape = { about: string; takes?: Arguments; options?: Record<string, CommandOption> }

/** Runs a command and returns its exit code. Commands are only loaded when they are called. */
export type RunCommand = (called: Called) => Promise<number>

export type Spec = Shape & {
  load: () => Promise<{ run: RunCommand }>
  /** The text at the end of the help. */
  notes?: string
  /** The subcommands, each with its own options. */
  actions?: Record<string, Shape>
}

/** A command was called with invalid arguments. */
export class WronglyCalled extends Error {
  /** Whether to show the usage. */
  readonly tellsUsage: boolean

  constructor(message: string, tellsUsage = false) {
    super(message)
    this.tellsUsage = tellsUsage
  }
}

export type Called = {
  /** The subcommand, or an empty string if the command has none. */
  action: string
  args: string[]
  text: (name: string) => string | undefined
  flag: (name: string) => boolean
  list: (name: string) => string[]
}

const actionOf = ({ actions }: Spec, positionals: string[]): string => {
  if (!actions) return ''
  const [action] = positionals
  if (action !== undefined && Object.hasOwn(actions, action)) return action
  const known = Object.keys(actions).join(', ')
  throw new WronglyCalled(
    action === undefined
      ? `Missing subcommand: ${known}.`
      : `Unknown subcommand ${JSON.stringify(action)}. Use ${known}.`,
    true,
  )
}

const requireCount = (args: string[], takes: Arguments | undefined): void => {
  const { name, count } = takes ?? { name: '', count: 'none' }
  const most = { none: 0, one: 1, some: Infinity, any: Infinity }[count]
  if (args.length > most) throw new WronglyCalled(`Unexpected argument ${JSON.stringify(args[most])}.`, true)
  if (args.length === 0 && (count === 'one' || count === 'some'))
    throw new WronglyCalled(`Missing argument: ${name}.`, true)
}

export const optionsOf = (spec: Spec, action: string): Record<string, CommandOption> => ({
  ...spec.options,
  ...spec.actions?.[action]?.options,
})

/** Returns undefined if the arguments only ask for help. */
export const readCall = (spec: Spec, given: string[]): Called | undefined => {
  const asksHelp = (arg: string, at: number) => (arg === '--help' || arg === '-h') && !given.slice(0, at).includes('--')
  if (given.some(asksHelp)) return undefined
  const every = {
    ...spec.options,
    ...Object.assign({}, ...Object.values(spec.actions ?? {}).map((each) => each.options)),
  }
  const { values, positionals } = parseArgs({
    args: given,
    allowPositionals: spec.takes !== undefined || spec.actions !== undefined,
    options: Object.fromEntries(
      Object.entries(every as Record<string, CommandOption>).map(([name, { value, many }]) => [
        name,
        { type: value === undefined ? 'boolean' : 'string', multiple: many === true } as const,
      ]),
    ),
  })
  const action = actionOf(spec, positionals)
  const args = spec.actions ? positionals.slice(1) : positionals
  const options = optionsOf(spec, action)
  const asked: Record<string, unknown> = values
  for (const [name, value] of Object.entries(asked)) {
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (!option) throw new WronglyCalled(`${action} does not support --${name}.`)
    const { choices } = option
    if (choices && ![value].flat().every((each) => choices.includes(String(each)))) {
      throw new WronglyCalled(`--${name} must be ${choices.join(' or ')}, not ${JSON.stringify(value)}.`)
    }
  }
  requireCount(args, spec.actions ? spec.actions[action]?.takes : spec.takes)
  const read = (name: string): unknown => {
    if (!Object.hasOwn(options, name)) throw new Error(`The command has no option ${name}`)
    return asked[name]
  }
  return {
    action,
    args,
    // The arguments were parsed with these types.
    text: (name) => read(name) as string | undefined,
    flag: (name) => read(name) === true,
    list: (name) => (read(name) ?? []) as string[],
  }
}
