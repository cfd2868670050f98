import { Environment } from '@marcbachmann/cel-js'
import { expect, it } from 'vitest'
import { childrenOf, syntaxOf } from './syntax.ts'

const parse = (expression: string) => syntaxOf(new Environment({ unlistedVariablesAreDyn: true }).parse(expression))

it('finds the operators, arguments and positions of an expression', () => {
  const node = parse('a.b == 1 && c')
  expect(node).toMatchObject({ op: '&&', start: 0, end: 13 })
  const [comparison, right] = childrenOf(node)
  expect(comparison).toMatchObject({ op: '==' })
  expect(right).toMatchObject({ op: 'id', args: 'c' })
})

it('finds the steps of a node that are replaced', () => {
  const node = parse('a + 1')
  expect(node.meta.check).toBeTypeOf('function')
  expect(node.meta.evaluate).toBeTypeOf('function')
  expect(node.setMeta).toBeTypeOf('function')
})
