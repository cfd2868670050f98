import { keyPattern } from '../../../filters/category.ts'
import { reasonOf } from '../reasons.ts'
import { Fault, wordOf } from './faults.ts'
import { type CelType, redefine, type SyntaxNode } from './syntax.ts'

/** Checks expressions that must be maps with known keys, and evaluates each value separately. */

export type MapKind = {
  most: number
  /** The types of values. Other types are only determined when the value is known. */
  isValue: (type: CelType) => boolean
  must: string
  /** Whether only values without an answer are null. */
  skipsMissing: boolean
}

const scalars = ['string', 'int', 'uint', 'double', 'bool', 'null', 'google.protobuf.Timestamp']
const isDynamic = ({ kind, name }: CelType) => kind === 'dyn' || name.startsWith('dyn')

/** Returns whether a type is a list of strings. An empty list can have entries of any type. */
const isListOfTexts = ({ kind, valueType }: CelType) =>
  kind === 'list' && (valueType === undefined || ['string', 'T'].includes(valueType.name) || isDynamic(valueType))

export const mapKinds = {
  categories: {
    most: 20,
    isValue: (type) => type.name === 'bool' || isDynamic(type),
    must: 'a category must be true or false',
    skipsMissing: false,
  },
  fields: {
    most: 50,
    isValue: (type) => scalars.includes(type.name) || isDynamic(type) || isListOfTexts(type),
    must: 'a field must be a string, a number, true or false, a timestamp, or a list of strings',
    skipsMissing: true,
  },
} satisfies Record<string, MapKind>

const keyOf = (node: SyntaxNode): string => {
  const key = node.op === 'value' ? node.args : undefined
  if (typeof key !== 'string') throw new Fault("a key must be a literal, such as 'late'", node)
  if (!new RegExp(keyPattern).test(key)) {
    throw new Fault(`${JSON.stringify(key)} must be letters, digits, and underscores, starting with a letter`, node)
  }
  return key
}

/** Makes an expression evaluate to a map of its known values by key. */
export const prepareMap = (node: SyntaxNode, { most, isValue, must, skipsMissing }: MapKind): void => {
  if (node.op !== 'map') throw new Fault("this must be a map, such as {'late': signals.longestSilenceMs > 5000}", node)
  const entries = node.args.map(([key, value]) => ({ key: keyOf(key), keyNode: key, value }))
  entries.forEach(({ key, keyNode }, at) => {
    if (entries.findIndex((entry) => entry.key === key) < at) throw new Fault(`${key} is listed twice`, keyNode)
  })
  if (entries.length === 0 || entries.length > most) throw new Fault(`the map must have 1 to ${most} keys`, node)
  redefine(node, {
    typeCheck: (checker, _macro, scope) => {
      for (const { value } of entries) {
        const type = checker.check(value, scope)
        if (!isValue(type)) throw new Fault(`this is of type ${wordOf(type.name)}; ${must}`, value)
      }
      return checker.getType('map<string, dyn>')
    },
    evaluate: (evaluator, _macro, scope) => {
      const values = new Map<string, unknown>()
      for (const { key, value } of entries) {
        try {
          values.set(key, evaluator.run(value, scope))
        } catch (error) {
          if (!skipsMissing || reasonOf(error) === undefined) throw error
          values.set(key, null)
        }
      }
      return values
    },
  })
}
