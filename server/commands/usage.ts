import type { Arguments, CommandOption, Shape, Spec } from './call.ts'

/** Generates the help of all commands from their table. */

const column = 30

const flagOf = ([name, { value }]: [string, CommandOption]): string =>
  `--${name}${value === undefined ? '' : ` ${value}`}`

const argumentsOf = (takes: Arguments | undefined): string => {
  if (!takes) return ''
  return { one: ` ${takes.name}`, some: ` ${takes.name}…`, any: ` [${takes.name}…]` }[takes.count]
}

const lineOf = (left: string, about: string): string =>
  left.length < column ? `  ${left.padEnd(column)} ${about}` : `  ${left}\n  ${' '.repeat(column)} ${about}`

const optionLines = (options: Record<string, CommandOption> = {}): string[] =>
  Object.entries(options).map((entry) => {
    const [, { about, choices, many }] = entry
    const known = choices ? ` (${choices.join(', ')})` : ''
    return lineOf(flagOf(entry), `${about}${known}${many ? '; repeatable' : ''}`)
  })

const callOf = (name: string, { takes, options }: Shape): string =>
  `  earshot ${name}${argumentsOf(takes)}${options ? ' [options]' : ''}`

const usageOfActions = (name: string, spec: Spec): string[] => {
  const actions = Object.entries(spec.actions ?? {})
  const calls = actions.map(([action, { takes, about }]) => lineOf(`${name} ${action}${argumentsOf(takes)}`, about))
  const own = actions.flatMap(([action, { options }]) => (options ? [`\n${action}:`, ...optionLines(options)] : []))
  const shared = spec.options ? ['\nAll subcommands:', ...optionLines(spec.options)] : []
  return [`earshot ${name}: ${spec.about}\n`, ...calls, ...own, ...shared]
}

export const usageOf = (name: string, spec: Spec): string => {
  const lines = spec.actions
    ? usageOfActions(name, spec)
    : [callOf(name, spec), '', `${spec.about}.`, ...(spec.options ? ['', ...optionLines(spec.options)] : [])]
  return `Usage:\n${lines.join('\n')}\n${spec.notes ? `\n${spec.notes}\n` : ''}`
}

export const usageOfAll = (commands: Record<string, Spec>): string => {
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(14)} ${about}`)
  return `Usage: earshot <command> [options]\n\n${lines.join('\n')}\n\nRun earshot <command> --help for the options of a command.\n`
}
