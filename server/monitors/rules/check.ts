import { createRequire } from 'node:module'
import type { Issue } from '../../platform/errors.ts'

/**
 * Loads the language when the first rule is saved. It takes about 9 MB, and this process does not need it otherwise,
 * because threads evaluate rules.
 */
const load = (): typeof import('./language/compile.ts') => createRequire(import.meta.url)('./language/compile.ts')

/** Returns everything that is wrong with a rule before it is saved, with positions. */
export const checkRule = ({ expression, score }: { expression: string; score?: string | undefined }): Issue[] => {
  const { compile } = load()
  const issues: Issue[] = []
  const condition = compile(expression, 'condition')
  if ('fault' in condition) issues.push({ path: 'definition.expression', message: condition.fault })
  const number = score === undefined ? undefined : compile(score, 'number')
  if (number && 'fault' in number) issues.push({ path: 'definition.score', message: number.fault })
  return issues
}
