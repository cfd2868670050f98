import { createRequire } from 'node:module'
import type { Issue } from '../../platform/errors.ts'

/** The language takes about 9 MB, which are loaded when the first rule is saved: evaluation happens in threads. */
const load = (): typeof import('./language/compile.ts') => createRequire(import.meta.url)('./language/compile.ts')

/** Returns every fault of a rule before it is saved, each with its position. */
export const checkRule = ({ expression, score }: { expression: string; score?: string | undefined }): Issue[] => {
  const { compile } = load()
  const issues: Issue[] = []
  const condition = compile(expression, 'condition')
  if ('fault' in condition) issues.push({ path: 'definition.expression', message: condition.fault })
  const number = score === undefined ? undefined : compile(score, 'number')
  if (number && 'fault' in number) issues.push({ path: 'definition.score', message: number.fault })
  return issues
}
