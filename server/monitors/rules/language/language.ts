import { Environment } from '@marcbachmann/cel-js'
import { registerFunctions } from './functions.ts'
import { fieldVariables, shapes, type TypeName, types, variables } from './values.ts'

/** Configures CEL for rules: declared variables, mixed numeric types, and the functions in this folder. */

const limits = { maxAstNodes: 3_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 100, maxCallArguments: 10 }

/** The library functions that are allowed. All others (bytes, JSON, joining) would only add risks. */
export const functions = {
  plain: ['has', 'size', 'int', 'double', 'string', 'bool', 'timestamp', 'duration'],
  macros: ['all', 'exists', 'exists_one', 'filter', 'map'],
  methods: [
    'size',
    'contains',
    'startsWith',
    'endsWith',
    'matches',
    'lowerAscii',
    'upperAscii',
    'trim',
    'substring',
    'indexOf',
    'bind',
    'by',
    'mentions',
    'mentioning',
    'calls',
    'first',
    'last',
    'before',
    'after',
    'getFullYear',
    'getMonth',
    'getDate',
    'getDayOfMonth',
    'getDayOfWeek',
    'getHours',
    'getMinutes',
    'getSeconds',
    'getMilliseconds',
  ],
}

const registerNumbers = (env: Environment): void => {
  const pair: [string, (a: number, b: number) => number][] = [
    ['+', (a, b) => a + b],
    ['-', (a, b) => a - b],
    ['*', (a, b) => a * b],
    ['/', (a, b) => a / b],
  ]
  for (const [sign, compute] of pair) {
    env.registerOperator(`int ${sign} double: double`, (a, b) => compute(Number(a), b))
    env.registerOperator(`double ${sign} int: double`, (a, b) => compute(a, Number(b)))
  }
  // biome-ignore lint/suspicious/noDoubleEquals: == compares a bigint and a number by value.
  env.registerOperator('double == int', (a, b) => a == b)
}

const open = (known: Record<string, string>): Environment => {
  const env = new Environment({ limits, homogeneousAggregateLiterals: false })
  for (const name of Object.keys(types) as TypeName[]) {
    env.registerType(name, { ctor: shapes[name], fields: types[name] })
  }
  for (const [name, type] of Object.entries(known)) env.registerVariable(name, type)
  registerNumbers(env)
  registerFunctions(env)
  return env
}

/** The variables for a conversation, or the fields that a judge has extracted. */
export const scopes = {
  conversation: { language: open(variables), variables },
  fields: { language: open(fieldVariables), variables: fieldVariables },
}
export type ScopeName = keyof typeof scopes
