import { checkSearch, keep, spend, spendOn } from './budget.ts'
import { closest } from './closest.ts'
import { Fault, wordOf } from './faults.ts'
import { functions } from './language.ts'
import { type CelType, childrenOf, type Evaluator, redefine, type SyntaxNode, sourceOf, surround } from './syntax.ts'
import { choices, fieldOf, types } from './values.ts'

/** Adds restrictions to the library's checks, and changes the meaning of some nodes. */

/** The maximum nesting depth of loops over lists. Each level multiplies the time by the number of turns. */
const deepestLoop = 3
/** The maximum nesting depth of nodes. It limits the stack that the evaluation needs. */
const deepestNode = 500

const isNull = (node: SyntaxNode) => node.op === 'value' && node.args === null

const isAccess = (node: SyntaxNode) => node.op === '.' || node.op === '[]'

/** Returns the value of an access, or undefined if any part of its path is missing. */
const peek = (evaluator: Evaluator, node: SyntaxNode, scope: unknown): unknown => {
  if (node.op !== '.' && node.op !== '[]') return evaluator.run(node, scope)
  const of = peek(evaluator, node.args[0], scope)
  if (typeof of !== 'object' || of === null) return undefined
  const key = node.op === '.' ? node.args[1] : evaluator.run(node.args[1], scope)
  if (of instanceof Map) return of.get(key)
  if (Array.isArray(of)) return of[Number(key)] ?? undefined
  return fieldOf(of, String(key))
}

/**
 * Redefines `has(x.y)`, `x.y == null`, and `x.y != null`. They test for missing values, which are errors everywhere
 * else.
 */
const redefineAsQuestion = (node: SyntaxNode, access: SyntaxNode, isKnown: boolean): void =>
  redefine(node, {
    typeCheck: (checker, _macro, scope) => {
      checker.check(access, scope)
      return checker.getType('bool')
    },
    evaluate: (evaluator, _macro, scope) => (peek(evaluator, access, scope) !== undefined) === isKnown,
  })

const redefineQuestions = (node: SyntaxNode): void => {
  if (node.op === 'call' && node.args[0] === 'has') {
    const [, [access, ...more]] = node.args
    if (!access || more.length > 0 || !isAccess(access)) {
      throw new Fault('has() takes one field, such as has(metadata.plan)', node)
    }
    redefineAsQuestion(node, access, true)
  }
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args
    const access = isNull(right) ? left : isNull(left) ? right : undefined
    if (access && isAccess(access)) redefineAsQuestion(node, access, node.op === '!=')
  }
}

const numbers = ['int', 'double']

/** Redefines `in`, so that it compares numbers by value, regardless of their types. */
const mixNumbers = (node: SyntaxNode): void => {
  if (node.op !== 'in') return
  const [left, right] = node.args
  const { check, evaluate } = node.meta
  let areNumbers = false
  redefine(node, {
    typeCheck: (checker, _macro, scope) => {
      const one = checker.check(left, scope)
      const { kind, valueType } = checker.check(right, scope)
      areNumbers = numbers.includes(one.name) && kind === 'list' && numbers.includes(valueType?.name ?? '')
      return areNumbers ? checker.getType('bool') : check(checker, node, scope)
    },
    evaluate: (evaluator, _macro, scope) => {
      if (!areNumbers) return evaluate(evaluator, node, scope)
      const value = evaluator.run(left, scope)
      // biome-ignore lint/suspicious/noDoubleEquals: == compares a bigint and a number by value.
      return (evaluator.run(right, scope) as unknown[]).some((among) => among == value)
    },
  })
}

/** The functions that can create strings and lists of any length. */
const makers = ['lowerAscii', 'upperAscii']

const countMade = (node: SyntaxNode): void => {
  if (node.op !== '+' && !(node.op === 'rcall' && makers.includes(node.args[0]))) return
  surround(node, (evaluate) => {
    const made = evaluate()
    spendOn(made)
    return made
  })
}

const sizeOf = (node: SyntaxNode): number => childrenOf(node).reduce((size, child) => size + sizeOf(child), 1)

/**
 * Counts the values that loops keep: an entry for each iteration of `filter`, and all values created by the body of
 * `map`.
 */
const countKept = (node: SyntaxNode): void => {
  if (node.op !== 'rcall') return
  const [name, , [, ...bodies]] = node.args
  if (name !== 'map' && name !== 'filter') return
  for (const body of bodies) {
    const size = name === 'map' ? sizeOf(body) : 1
    surround(body, (evaluate) => {
      spend(size)
      return name === 'map' ? keep(evaluate) : evaluate()
    })
  }
}

const searches = ['contains', 'indexOf']
/** A literal of at most this length needs no check, because searching for it is fast in any text. */
const shortText = 200

const boundSearch = (node: SyntaxNode): void => {
  if (node.op !== 'rcall' || !searches.includes(node.args[0])) return
  const [, text, [sought]] = node.args
  if (!sought) return
  if (sought.op === 'value' && typeof sought.args === 'string' && sought.args.length <= shortText) return
  // The argument is evaluated before the text to search.
  let length = 0
  surround(sought, (evaluate) => {
    const value = evaluate()
    length = typeof value === 'string' ? value.length : 0
    return value
  })
  surround(text, (evaluate) => {
    const value = evaluate()
    if (typeof value === 'string') checkSearch(value.length, length)
    return value
  })
}

const checkName = (node: SyntaxNode): void => {
  if (node.op !== 'call' && node.op !== 'rcall') return
  const known = node.op === 'call' ? functions.plain : [...functions.methods, ...functions.macros]
  const [name] = node.args
  if (known.includes(name)) return
  throw new Fault(`there is no function ${name}${closest(name, known)}`, node)
}

/** Prepares a node before its types are checked. The depth limit also limits the recursion. */
export const prepare = (node: SyntaxNode, depth = 0, loops = 0): void => {
  if (depth > deepestNode) throw new Fault('the expression is nested too deeply', node)
  checkName(node)
  const isLoop = node.op === 'rcall' && functions.macros.includes(node.args[0])
  if (isLoop && loops === deepestLoop) {
    throw new Fault(`all, exists, exists_one, filter, and map can only be nested ${deepestLoop} deep`, node)
  }
  redefineQuestions(node)
  mixNumbers(node)
  countMade(node)
  for (const child of childrenOf(node)) {
    const isBody = isLoop && child !== node.args[1]
    prepare(child, depth + 1, isBody ? loops + 1 : loops)
  }
  // These restrictions come last, so that they wrap the prepared children.
  boundSearch(node)
  countKept(node)
}

/** Returns the name that an access to `fields` uses, with its position. */
const fieldIn = (node: SyntaxNode): { key: string; at: number } | undefined => {
  if (node.op !== '.' && node.op !== '[]') return undefined
  const [owner] = node.args
  if (owner.op !== 'id' || owner.args !== 'fields') return undefined
  if (node.op === '.') return { key: node.args[1], at: node.end - node.args[1].length }
  const [, given] = node.args
  return given.op === 'value' && typeof given.args === 'string' ? { key: given.args, at: given.start } : undefined
}

/** Rejects accesses to `fields` with a name that doesn't belong to a field. */
export const checkKeys = (node: SyntaxNode, keys: readonly string[]): void => {
  const used = fieldIn(node)
  if (used && !keys.includes(used.key)) {
    const { key, at } = used
    throw new Fault(`there is no field ${key}${closest(key, keys) || `; there are ${keys.join(', ')}`}`, node, at)
  }
  for (const child of childrenOf(node)) checkKeys(child, keys)
}

const choicesOf = (node: SyntaxNode): readonly string[] | undefined => {
  if (node.op !== '.') return undefined
  const type: CelType | undefined = node.args[0].checkedType
  return choices[`${type?.name}.${node.args[1]}`]
}

const checkChoice = (node: SyntaxNode, known: readonly string[]): void => {
  const given = node.op === 'list' ? node.args : [node]
  for (const one of given) {
    if (one.op !== 'value' || typeof one.args !== 'string' || known.includes(one.args)) continue
    throw new Fault(`${JSON.stringify(one.args)} is not one of ${known.join(', ')}`, one)
  }
}

/**
 * Checks a node after its types were checked: rejects expressions that the library accepts but that would never match.
 */
export const checkTyped = (node: SyntaxNode): void => {
  if (node.op === '.' || node.op === '[]') {
    const [owner] = node.args
    const type = owner.checkedType
    if (type?.kind === 'message' && !Object.hasOwn(types, type.name)) {
      throw new Fault(`${sourceOf(owner)} is of type ${wordOf(type.name)}, which has no fields`, owner)
    }
  }
  if (node.op === '==' || node.op === '!=' || node.op === 'in') {
    const [left, right] = node.args
    const known = choicesOf(left)
    if (known) checkChoice(right, known)
    const ofRight = choicesOf(right)
    if (ofRight) checkChoice(left, ofRight)
  }
  for (const child of childrenOf(node)) checkTyped(child)
}
