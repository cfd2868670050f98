import { describeFault, Fault, wordOf } from './faults.ts'
import { takePatterns } from './functions.ts'
import { language } from './language.ts'
import { checkTyped, prepare } from './restrictions.ts'
import { syntaxOf } from './syntax.ts'

/** Compiles an expression, or returns what is wrong with it. */

export type Compiled = {
  /** Throws if a value is unknown. */
  evaluate: (context: object) => unknown
  /** Its approximate maximum memory. */
  bytes: number
}

/** The memory of the compiled expression, without its patterns. */
const bytesPerCharacter = 100

const kinds = {
  condition: { types: ['bool', 'dyn'], must: 'it must be true or false' },
  number: { types: ['int', 'uint', 'double', 'dyn'], must: 'it must be a number' },
}

export const compile = (expression: string, kind: keyof typeof kinds): Compiled | { fault: string } => {
  takePatterns()
  try {
    const parsed = language.parse(expression)
    const node = syntaxOf(parsed)
    prepare(node)
    const { error, type = '' } = parsed.check()
    if (error) throw error
    checkTyped(node)
    const { types, must } = kinds[kind]
    if (!types.includes(type.replace(/^dyn<.*>$/, 'dyn')))
      throw new Fault(`this is of type ${wordOf(type)}; ${must}`, node)
    const bytes = takePatterns().reduce((sum, pattern) => sum + pattern.bytes, expression.length * bytesPerCharacter)
    return { evaluate: parsed, bytes }
  } catch (error) {
    return { fault: describeFault(expression, error) }
  }
}
