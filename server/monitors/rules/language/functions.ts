import type { Environment } from '@marcbachmann/cel-js'
import { remember } from '../evidence.ts'
import { openPattern, type Pattern, PatternFault } from '../patterns/patterns.ts'
import {
  after,
  before,
  by,
  callsOf,
  isMentionedIn,
  mention,
  mentioning,
  type TurnList,
  type TurnValue,
} from '../turns.ts'
import { spendIfStored } from './budget.ts'
import { localTime, type TimePart, timeParts } from './local-time.ts'
import { type CelType, type Checker, type Evaluator, type Macro, type SyntaxNode, sourceOf } from './syntax.ts'
import { Unknown } from './unknown.ts'
import { choices, shapes } from './values.ts'

/** Adds functions that are missing from CEL. Literal arguments are checked when a rule is saved. */

const turnsType = 'list<Turn>'

/** The limit for all patterns in an expression together. It limits the time needed to save a rule. */
const mostSteps = 5_000

const patterns: Pattern[] = []

/** Returns the patterns in the last checked expression. */
export const takePatterns = (): Pattern[] => patterns.splice(0)

const fault = (checker: Checker, message: string, node: SyntaxNode) => checker.createError('rule', message, node)

const textOf = (checker: Checker, node: SyntaxNode, what: string): string => {
  if (node.op === 'value' && typeof node.args === 'string') return node.args
  throw fault(checker, `${what} must be a string literal`, node)
}

const patternOf = (checker: Checker, node: SyntaxNode, ignoreCase: boolean): Pattern => {
  const source = textOf(checker, node, 'a pattern')
  try {
    const pattern = openPattern(source, { ignoreCase })
    patterns.push(pattern)
    if (patterns.reduce((steps, one) => steps + one.steps, 0) <= mostSteps) return pattern
  } catch (error) {
    if (error instanceof PatternFault) throw fault(checker, `the pattern ${error.message}`, node)
    throw error
  }
  throw fault(checker, 'the patterns of this expression are too large in total', node)
}

type Call = { receiver: SyntaxNode; args: [SyntaxNode] }

/**
 * Registers a method. Its only argument is checked when the rule is saved. It replaces the library's methods with the
 * same name and number of arguments, for every type.
 */
const method = (
  env: Environment,
  name: string,
  prepare: (
    call: Call,
    checker: Checker,
    on: CelType,
  ) => { type: string; evaluate: (evaluator: Evaluator, scope: unknown) => unknown },
): void => {
  env.registerFunction(`Turn.${name}(ast): dyn`, ({ receiver, args }: Call): Macro => {
    let evaluate: ReturnType<typeof prepare>['evaluate']
    return {
      typeCheck: (checker, _macro, scope) => {
        const prepared = prepare({ receiver, args }, checker, checker.check(receiver, scope))
        evaluate = prepared.evaluate
        return checker.getType(prepared.type)
      },
      evaluate: (evaluator, _macro, scope) => evaluate(evaluator, scope),
      async: false,
    }
  })
}

const isText = ({ kind, name }: CelType) => name === 'string' || kind === 'dyn'

const requireTurns = (checker: Checker, on: CelType, name: string, node: SyntaxNode): void => {
  if (on.name !== turnsType) throw fault(checker, `${name} is a function of turns, not of ${on.name}`, node)
}

/** Searches a string. If it is the text of a turn, records the turn, so that it can be quoted. */
const searchText = (receiver: SyntaxNode, pattern: Pattern) => {
  const turn = receiver.op === '.' && receiver.args[1] === 'text' ? receiver.args[0] : undefined
  return (evaluator: Evaluator, scope: unknown): boolean => {
    const text = evaluator.run(receiver, scope)
    if (typeof text !== 'string') throw new Unknown(`${sourceOf(receiver)} is not a string`)
    const isFound = pattern.occursIn(text)
    if (isFound && turn?.checkedType?.name === 'Turn') {
      remember(true, evaluator.run(turn, scope) as TurnValue, pattern)
    }
    return isFound
  }
}

const speakers = choices['Turn.role']?.filter((role) => role !== 'tool') ?? []

const registerText = (env: Environment): void => {
  method(env, 'matches', ({ receiver, args: [node] }, checker, on) => {
    if (!isText(on)) throw fault(checker, `matches is a function of strings, not of ${on.name}`, receiver)
    return { type: 'bool', evaluate: searchText(receiver, patternOf(checker, node, false)) }
  })
  method(env, 'mentions', ({ receiver, args: [node] }, checker, on) => {
    const pattern = patternOf(checker, node, true)
    if (isText(on)) return { type: 'bool', evaluate: searchText(receiver, pattern) }
    if (on.name === 'Turn') {
      return {
        type: 'bool',
        evaluate: (evaluator, scope) => {
          const turn = evaluator.run(receiver, scope) as TurnValue
          return remember(isMentionedIn(turn, pattern), turn, pattern)
        },
      }
    }
    if (on.name !== turnsType) {
      throw fault(checker, `mentions is a function of turns, a turn, or a string, not of ${on.name}`, receiver)
    }
    return {
      type: 'bool',
      evaluate: (evaluator, scope) => {
        const turns = evaluator.run(receiver, scope) as TurnList
        return remember(mention(turns, pattern), turns, pattern)
      },
    }
  })
  method(env, 'mentioning', ({ receiver, args: [node] }, checker, on) => {
    requireTurns(checker, on, 'mentioning', receiver)
    const pattern = patternOf(checker, node, true)
    return {
      type: turnsType,
      evaluate: (evaluator, scope) => {
        const turns = spendIfStored(mentioning(evaluator.run(receiver, scope) as TurnList, pattern))
        remember(turns.length > 0, turns, pattern)
        return turns
      },
    }
  })
}

const registerTurns = (env: Environment): void => {
  method(env, 'by', ({ receiver, args: [node] }, checker, on) => {
    requireTurns(checker, on, 'by', receiver)
    const role = textOf(checker, node, 'a role')
    if (!speakers.includes(role)) {
      throw fault(checker, `${JSON.stringify(role)} is not a speaker; use ${speakers.join(', ')}`, node)
    }
    return {
      type: turnsType,
      evaluate: (evaluator, scope) => spendIfStored(by(evaluator.run(receiver, scope) as TurnList, role)),
    }
  })
  // The library also accepts a list of entries with unknown types.
  const requireTurnValues = (list: unknown) => {
    if (Array.isArray(list) && list.some((one) => !(one instanceof shapes.Turn)))
      throw new Unknown('these are not turns')
  }
  const plain = (signature: string, handler: (turns: TurnList, other: never) => TurnList | TurnValue) =>
    env.registerFunction(
      `${turnsType}.${signature}`,
      (turns: TurnList, other: never) => {
        requireTurnValues(turns)
        requireTurnValues(other)
        return handler(turns, other)
      },
      { async: false },
    )
  const list = (signature: string, handler: (turns: TurnList, other: never) => TurnList) =>
    plain(signature, (turns, other) => spendIfStored(handler(turns, other)))
  const onlyTurn = (turns: TurnList, at: number, name: string) => {
    const turn = turns.at(at)
    if (!turn) throw new Unknown(`there is no ${name} turn in an empty list`)
    return turn
  }
  const count = (given: bigint) => Math.max(0, Math.min(Number(given), 1_000_000))
  plain('first(): Turn', (turns) => onlyTurn(turns, 0, 'first'))
  plain('last(): Turn', (turns) => onlyTurn(turns, -1, 'last'))
  list(`first(int): ${turnsType}`, (turns, given: bigint) => turns.slice(0, count(given)))
  list(`last(int): ${turnsType}`, (turns, given: bigint) => turns.slice(Math.max(0, turns.length - count(given))))
  list(`after(${turnsType}): ${turnsType}`, (turns, others: TurnList) => after(turns, others))
  list(`before(${turnsType}): ${turnsType}`, (turns, others: TurnList) => before(turns, others))
  list(`calls(string): ${turnsType}`, (turns, tool: string) => callsOf(turns, tool))
}

/**
 * Replaces the library's time functions, which create a calendar for each call. That takes far longer than anything
 * else in a rule.
 */
const registerTimes = (env: Environment): void => {
  for (const part of Object.keys(timeParts) as TimePart[]) {
    method(env, part, ({ receiver, args: [node] }, checker, on) => {
      if (on.name !== 'google.protobuf.Timestamp') {
        throw fault(checker, `${part} with a time zone is a function of timestamps, not of ${on.name}`, receiver)
      }
      const read = localTime(textOf(checker, node, 'a time zone'))
      if (!read) throw fault(checker, 'this is not a time zone; use an IANA name such as Europe/Berlin', node)
      return {
        type: 'int',
        evaluate: (evaluator, scope) => timeParts[part](read(evaluator.run(receiver, scope) as Date)),
      }
    })
  }
}

export const registerFunctions = (env: Environment): void => {
  registerText(env)
  registerTurns(env)
  registerTimes(env)
}
