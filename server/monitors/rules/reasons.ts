import { EvaluationError } from '@marcbachmann/cel-js'
import { wordOf } from './language/faults.ts'
import { type SyntaxNode, sourceOf } from './language/syntax.ts'
import { Unknown } from './language/unknown.ts'

/** Explains in plain words why an expression has no value for a conversation. */

const longestReason = 300

/** Returns the name of the missing value: a map entry, or an unknown field of this conversation. */
const missing = (node: SyntaxNode, summary: string): string => {
  if (node.op !== '.' && node.op !== '[]') return summary
  const [owner, key] = node.args
  const kind = owner.checkedType?.kind
  if (kind !== 'map' && kind !== 'dyn') return `${sourceOf(node)} is not known`
  const name = typeof key === 'string' ? key : summary.replace('No such key: ', '')
  return `${sourceOf(owner)} has no ${name}`
}

const reasonFor = ({ code, summary }: EvaluationError, node: SyntaxNode | undefined): string => {
  if (!node) return summary
  switch (code) {
    case 'no_such_key':
      return missing(node, summary)
    case 'index_out_of_bounds':
      return `there is no ${sourceOf(node)}`
    case 'no_such_overload':
    case 'no_matching_overload':
      return `${sourceOf(node)} is not possible: ${wordOf(summary.replace(/^no such overload: |^found no matching overload for /, ''))}`
    default:
      return `${sourceOf(node)}: ${summary}`
  }
}

/** Returns undefined if the error was not caused by an unknown value. */
export const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof Unknown) return error.message.slice(0, longestReason)
  if (!(error instanceof EvaluationError)) return undefined
  // The library's type declares fewer node properties than are used here.
  return reasonFor(error, error.node as SyntaxNode | undefined).slice(0, longestReason)
}
