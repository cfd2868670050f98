import { closest } from './closest.ts'
import { type CelType, type SyntaxNode, sourceOf } from './syntax.ts'
import { type TypeName, types } from './values.ts'

/** Describes an expression's errors in words, with their positions. */

/** An error thrown by this folder, as opposed to the library. */
export class Fault extends Error {
  readonly node: SyntaxNode
  /** The error's position in the expression. */
  readonly at: number
  constructor(message: string, node: SyntaxNode, at: number = node.start) {
    super(message)
    this.node = node
    this.at = at
  }
}

/** The properties of the library's errors that are used here. */
type Thrown = { code?: string; summary?: string; message: string; node?: SyntaxNode; range?: { start: number } }

const placeOf = (expression: string, at: number): string => {
  const before = expression.slice(0, at).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

const typeWords: Record<string, string> = {
  'google.protobuf.Timestamp': 'timestamp',
  'google.protobuf.Duration': 'duration',
}

/** Returns the name of a type as used in the documentation. */
export const wordOf = (type: string): string =>
  type.replace(/dyn<([^<>]+)>/g, '$1').replace(/google\.protobuf\.\w+/g, (name) => typeWords[name] ?? name)

const tokenWords: Record<string, string> = {
  EOF: 'the end',
  LPAREN: '(',
  RPAREN: ')',
  LBRACKET: '[',
  RBRACKET: ']',
  LBRACE: '{',
  RBRACE: '}',
  IDENTIFIER: 'a name',
  NUMBER: 'a number',
  STRING: 'a text',
  BYTES: 'bytes',
  BOOLEAN: 'true or false',
  NULL: 'null',
  DOT: '.',
  COMMA: ',',
  COLON: ':',
  QUESTION: '?',
  PLUS: '+',
  MINUS: '-',
  MULTIPLY: '*',
  DIVIDE: '/',
  MODULO: '%',
  EQ: '==',
  NE: '!=',
  LT: '<',
  LE: '<=',
  GT: '>',
  GE: '>=',
  AND: '&&',
  OR: '||',
  NOT: '!',
  IN: 'in',
}
const inWords = (summary: string): string => {
  const [first = '', ...rest] = summary.replace(/\b[A-Z]{2,}\b/g, (token) => tokenWords[token] ?? token)
  return wordOf(first.toLowerCase() + rest.join(''))
}

const unknownField = ({ name }: CelType, owner: SyntaxNode, field: string): string | undefined => {
  if (!Object.hasOwn(types, name)) return undefined
  const known = Object.keys(types[name as TypeName])
  return `${sourceOf(owner)} has no field ${field}${closest(field, known) || `; it has ${known.join(', ')}`}`
}

const limitWords: Record<string, string> = {
  maxAstNodes: 'the expression is too long',
  maxDepth: 'the expression is nested too deeply',
  maxListElements: 'the expression contains a list that is too long',
  maxMapEntries: 'the expression contains a map that is too large',
  maxCallArguments: 'the expression passes too many arguments to a function',
}

/**
 * Returns the message for an error. `rest` is the expression starting at the error, and `known` contains the names of
 * variables.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: this is a list of error codes, each with its message
const messageOf = ({ code, summary, message, node }: Thrown, rest: string, known: string[]): string => {
  const said = summary ?? message
  switch (code) {
    case 'unknown_variable': {
      const name = said.replace('Unknown variable: ', '')
      return `there is no variable ${name}${closest(name, known) || `; there are ${known.join(', ')}`}`
    }
    case 'no_such_key': {
      const owner = node?.op === '.' || node?.op === '[]' ? node.args[0] : undefined
      const field = said.replace('No such key: ', '')
      return (owner?.checkedType && unknownField(owner.checkedType, owner, field)) ?? said
    }
    case 'invalid_index_type': {
      const [owner, field] = node?.op === '.' || node?.op === '[]' ? node.args : []
      if (typeof field !== 'string' || !owner) return inWords(said)
      return `${sourceOf(owner)} is a list; check its items, as in ${sourceOf(owner)}.exists(t, t.${field} …)`
    }
    case 'unexpected_character':
      return `unexpected ${/^(\w+|.?)/su.exec(rest)?.[0] || 'end'}`
    case 'unexpected_token':
      return inWords(said).replace(/token: (the )?/, '')
    case 'limit_exceeded':
      return limitWords[/Exceeded (\w+)/.exec(said)?.[1] ?? ''] ?? said
    case 'no_matching_overload':
      return `there is no ${wordOf(/'(.*)'/.exec(said)?.[1] ?? said)}`
    case 'no_such_overload': {
      const [left = '', sign = '', right] = said.replace('no such overload: ', '').split(/ ([^\w<>]+|[<>]=?|in) /)
      if (right === undefined) return inWords(said)
      return `${sign} cannot be used with ${wordOf(left)} and ${wordOf(right)}`
    }
    case 'incompatible_ternary_branches':
      return `${inWords(said)}; write whole numbers as 1.0 to make them doubles`
    case 'rule':
      return wordOf(said)
    default:
      return inWords(said)
  }
}

export const describeFault = (expression: string, error: unknown, variables: string[]): string => {
  if (error instanceof RangeError) return 'line 1, column 1: the expression is nested too deeply'
  if (error instanceof Fault) return `${placeOf(expression, error.at)}: ${error.message}`
  // All other errors from the library have a message.
  const thrown = error as Thrown
  const at = (thrown.code === 'rule' ? thrown.node?.start : thrown.range?.start) ?? 0
  return `${placeOf(expression, at)}: ${messageOf(thrown, expression.slice(at), variables)}`
}
