import { describeFault, Fault, wordOf } from './faults.ts'
import { takePatterns } from './functions.ts'
import { type ScopeName, scopes } from './language.ts'
import { mapKinds, prepareMap } from './map-literal.ts'
import { checkKeys, checkTyped, prepare } from './restrictions.ts'
import { syntaxOf } from './syntax.ts'

/** Compiles an expression, or returns its error. */

export type Compiled = {
  /** Throws if a value is unknown. */
  evaluate: (context: object) => unknown
  /** Its approximate maximum memory. */
  bytes: number
}

/** The memory that the compiled expression needs, without its patterns. */
const bytesPerCharacter = 100

const kinds = {
  condition: { types: ['bool', 'dyn'], must: 'it must be true or false' },
  number: { types: ['int', 'uint', 'double', 'dyn'], must: 'it must be a number' },
  // The values in a map are checked one by one.
  categories: { types: ['map<string, dyn>'], must: 'it must be a map' },
  fields: { types: ['map<string, dyn>'], must: 'it must be a map' },
}
export type ExpressionKind = keyof typeof kinds

type Options = {
  scope?: ScopeName | undefined
  /** The keys of the variable `fields`. */
  keys?: readonly string[] | undefined
}

export const compile = (
  expression: string,
  kind: ExpressionKind,
  { scope: name = 'conversation', keys }: Options = {},
): Compiled | { fault: string } => {
  const { language, variables } = scopes[name]
  takePatterns()
  try {
    const parsed = language.parse(expression)
    const node = syntaxOf(parsed)
    prepare(node)
    if (kind === 'categories' || kind === 'fields') prepareMap(node, mapKinds[kind])
    const { error, type = '' } = parsed.check()
    if (error) throw error
    checkTyped(node)
    if (keys) checkKeys(node, keys)
    const { types, must } = kinds[kind]
    if (!types.includes(type.replace(/^dyn<.*>$/, 'dyn')))
      throw new Fault(`this is of type ${wordOf(type)}; ${must}`, node)
    const bytes = takePatterns().reduce((sum, pattern) => sum + pattern.bytes, expression.length * bytesPerCharacter)
    return { evaluate: parsed, bytes }
  } catch (error) {
    return { fault: describeFault(expression, error, Object.keys(variables)) }
  }
}
