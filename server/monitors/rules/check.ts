import { createRequire } from 'node:module'
import type { Issue } from '../../platform/errors.ts'
import type { RuleSource } from './source.ts'

/**
 * Loads the language when the first rule is saved. It takes about 9 MB, and this process doesn't need it for anything
 * else, because threads evaluate the rules.
 */
const load = (): typeof import('./language/compile.ts') => createRequire(import.meta.url)('./language/compile.ts')

const kinds = { expression: 'condition', score: 'number', categories: 'categories', fields: 'fields' } as const

/** Returns all errors in a rule before it is saved, with their positions. */
export const checkRule = (rule: RuleSource): Issue[] => {
  const { compile } = load()
  return Object.entries(kinds).flatMap(([name, kind]) => {
    const text = rule[name as keyof typeof kinds]
    const compiled = text === undefined ? undefined : compile(text, kind)
    return compiled && 'fault' in compiled ? [{ path: `definition.${name}`, message: compiled.fault }] : []
  })
}

/** Returns the errors in a condition on extracted fields. */
export const checkFieldCondition = (expression: string, keys: readonly string[]): string | undefined => {
  const compiled = load().compile(expression, 'condition', { scope: 'fields', keys })
  return 'fault' in compiled ? compiled.fault : undefined
}
