import { createRequire } from 'node:module'
import type { Issue } from '../../platform/errors.ts'

/** The language takes some 9 MB, which are taken when the first rule is saved: evaluating it is done in threads. */
const load = (): typeof import('./language/compile.ts') => createRequire(import.meta.url)('./language/compile.ts')

/** Every fault of a rule that is to be saved, each with its place. */
export const checkRule = ({ expression, score }: { expression: string; score?: string | undefined }): Issue[] => {
  const { compile } = load()
  const issues: Issue[] = []
  const condition = compile(expression, 'condition')
  if ('fault' in condition) issues.push({ path: 'definition.expression', message: condition.fault })
  const number = score === undefined ? undefined : compile(score, 'number')
  if (number && 'fault' in number) issues.push({ path: 'definition.score', message: number.fault })
  return issues
}
