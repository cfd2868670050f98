import { type CommandOption, optionsOf, type RunCommand, type Spec } from './call.ts'
import { print } from './columns.ts'

/** Generates shell completion. Each position (`monitors test`) has a list of possible next words. */

type Commands = Record<string, Spec>

type CompletionPoint = { words: string; candidates: { word: string; about: string }[] }

const optionWords = (options: Record<string, CommandOption>) =>
  [...Object.entries(options), ['help', { about: 'show the options' }] as const].map(([name, { about }]) => ({
    word: `--${name}`,
    about,
  }))

const placesOf = ([name, spec]: [string, Spec]): CompletionPoint[] => {
  const actions = Object.entries(spec.actions ?? {})
  const first = actions.map(([word, { about }]) => ({ word, about }))
  const own = { words: name, candidates: [...first, ...(first.length > 0 ? [] : optionWords(optionsOf(spec, '')))] }
  return [
    own,
    ...actions.map(([action]) => ({ words: `${name} ${action}`, candidates: optionWords(optionsOf(spec, action)) })),
  ]
}

const choicesOf = (commands: Commands): [string, readonly string[]][] => {
  const all = Object.values(commands).flatMap((spec) => [spec, ...Object.values(spec.actions ?? {})])
  const found = new Map<string, Set<string>>()
  for (const [name, { choices = [] }] of all.flatMap(({ options = {} }) => Object.entries(options))) {
    for (const choice of choices) found.set(name, (found.get(name) ?? new Set()).add(choice))
  }
  return [...found].map(([name, known]) => [name, [...known]])
}

const places = (commands: Commands): CompletionPoint[] => [
  { words: '', candidates: Object.entries(commands).map(([word, { about }]) => ({ word, about })) },
  ...Object.entries(commands).flatMap(placesOf),
]

/** Lists the commands that are followed by a subcommand. */
const placesWithActions = (commands: Commands) =>
  Object.entries(commands)
    .filter(([, { actions }]) => actions)
    .map(([name]) => name)
    .join(' ')

const bash = (commands: Commands): string => {
  const cases = places(commands).map(({ words, candidates }) => {
    const known = candidates.map(({ word }) => word).join(' ')
    return `    ${JSON.stringify(words)}) offered=${JSON.stringify(known)} ;;`
  })
  const values = choicesOf(commands).map(
    ([name, known]) => `    --${name}) offered=${JSON.stringify(known.join(' '))} ;;`,
  )
  return `_earshot() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at="" offered="" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $each in -*) break ;; esac
    case " ${placesWithActions(commands)} " in *" $at "*) ;; *) [ -z "$at" ] || break ;; esac
    at="\${at:+$at }$each"
  done
  case "$at" in
${cases.join('\n')}
  esac
  case $before in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -o default -F _earshot earshot
`
}

const zsh = (commands: Commands): string => `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
autoload -Uz bashcompinit && bashcompinit
${bash(commands)}`

const fish = (commands: Commands): string => {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = places(commands).flatMap(({ words, candidates }) =>
    candidates.map(({ word, about }) => {
      const [command = '', action] = words.split(' ')
      const when =
        command === ''
          ? '__fish_use_subcommand'
          : `__fish_seen_subcommand_from ${command}${action ? `; and __fish_seen_subcommand_from ${action}` : ''}`
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
      return `complete -c earshot -n ${quote(when)} ${what} -d ${quote(about)}`
    }),
  )
  return `${lines.join('\n')}\n`
}

/** Completes the commands in the table, which includes this one. */
export const completionOf = (commands: Commands): { run: RunCommand } => ({
  // `action` is one of the subcommands.
  run: async ({ action }) => print({ bash, zsh, fish }[action as 'bash' | 'zsh' | 'fish'](commands)),
})
