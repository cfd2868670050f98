/**
 * Declares the properties of the library's nodes and passes that are used here, including some that are missing from
 * its types. Its version is pinned, and the tests in this folder verify these declarations.
 */

export type CelType = { kind: string; name: string; valueType?: CelType }

export type Checker = {
  check: (node: SyntaxNode, scope: unknown) => CelType
  getType: (name: string) => CelType
  createError: (code: string, message: string, node: SyntaxNode) => Error
}

export type Evaluator = { run: (node: SyntaxNode, scope: unknown) => unknown }

/** Replaces a node's behavior. */
export type Macro = {
  typeCheck: (checker: Checker, macro: unknown, scope: unknown) => CelType
  evaluate: (evaluator: Evaluator, macro: unknown, scope: unknown) => unknown
  async: false
}

interface Of<Op extends string, Args> {
  op: Op
  args: Args
  start: number
  end: number
  input: string
  /** Set after the node has been checked. */
  checkedType?: CelType
  meta: {
    check: (checker: Checker, node: SyntaxNode, scope: unknown) => CelType
    evaluate: (evaluator: Evaluator, node: SyntaxNode, scope: unknown) => unknown
    /** The replacement for a macro call. */
    alternate?: SyntaxNode
    macro?: Macro
  }
  setMeta: (key: 'alternate' | 'macro' | 'async', value: unknown) => unknown
}

export type SyntaxNode =
  | Of<'value', unknown>
  | Of<'id', string>
  | Of<'.', [SyntaxNode, string]>
  | Of<
      '[]' | '==' | '!=' | 'in' | '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=' | '||' | '&&',
      [SyntaxNode, SyntaxNode]
    >
  | Of<'?:', [SyntaxNode, SyntaxNode, SyntaxNode]>
  | Of<'!_' | '-_', SyntaxNode>
  | Of<'call', [string, SyntaxNode[]]>
  | Of<'rcall', [string, SyntaxNode, SyntaxNode[]]>
  | Of<'list', SyntaxNode[]>
  | Of<'map', [SyntaxNode, SyntaxNode][]>

/** Returns the nodes in an expression with their full type. */
export const syntaxOf = ({ ast }: { ast: unknown }): SyntaxNode => ast as SyntaxNode

export const childrenOf = (node: SyntaxNode): SyntaxNode[] => {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
      return [node.args[0]]
    case '!_':
    case '-_':
      return [node.args]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'map':
      return node.args.flat()
    default:
      return node.args
  }
}

/** Changes a node's meaning before it is checked. */
export const redefine = (node: SyntaxNode, macro: Omit<Macro, 'async'>): void => {
  node.setMeta('macro', { ...macro, async: false })
  node.setMeta('async', false)
}

/** Wraps a node's evaluation. */
export const surround = (node: SyntaxNode, around: (evaluate: () => unknown) => unknown): void => {
  const { check, evaluate, alternate, macro } = node.meta
  node.setMeta('alternate', undefined)
  redefine(node, {
    typeCheck: (checker, _macro, scope) => {
      if (alternate) return checker.check(alternate, scope)
      return macro ? macro.typeCheck(checker, macro, scope) : check(checker, node, scope)
    },
    evaluate: (evaluator, _macro, scope) =>
      around(() => {
        if (alternate) return evaluator.run(alternate, scope)
        return macro ? macro.evaluate(evaluator, macro, scope) : evaluate(evaluator, node, scope)
      }),
  })
}

const longestSource = 100

/** Returns a node's source on one line. */
export const sourceOf = (node: SyntaxNode): string => {
  const source = node.input.slice(node.start, node.end).replace(/\s+/g, ' ')
  return source.length > longestSource ? `${source.slice(0, longestSource)}…` : source
}
