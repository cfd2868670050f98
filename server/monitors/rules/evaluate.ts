import { forget, quotes } from './evidence.ts'
import { Overspent, refill } from './language/budget.ts'
import { type Compiled, compile } from './language/compile.ts'
import { type Note, outcomes } from './outcome.ts'
import { reasonOf } from './reasons.ts'
import type { Context } from './subject.ts'

/** Evaluates one rule on one conversation. */

export type RuleAnswer = { result: number; score: number; note?: Note }

export type CompiledRule = { isAffected: Compiled; score: Compiled | undefined } | { fault: string }

/** Returns the approximate maximum memory of a rule. */
export const bytesOf = (rule: CompiledRule): number =>
  'fault' in rule ? 1_000 : rule.isAffected.bytes + (rule.score?.bytes ?? 0)

export const compileRule = (expression: string, score: string | undefined): CompiledRule => {
  const isAffected = compile(expression, 'condition')
  if ('fault' in isAffected) return isAffected
  const number = score === undefined ? undefined : compile(score, 'number')
  return number && 'fault' in number ? number : { isAffected, score: number }
}

const longestMessage = 200

/**
 * Returns a result without a value. Its reason can contain names from rules with NUL, which the database cannot store.
 */
const without = (result: number, reason: string): RuleAnswer => ({
  result,
  score: Number.NaN,
  note: { reason: reason.replaceAll('\0', '\ufffd') },
})

/** Returns the score. A missing value, NaN, and infinite numbers are not scores. */
const scoreOf = (score: Compiled, context: Context): number => {
  try {
    const value = score.evaluate(context)
    const number = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN
    return Number.isFinite(number) ? number : Number.NaN
  } catch (error) {
    if (reasonOf(error) === undefined) throw error
    return Number.NaN
  }
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'object' ? 'a list or map' : `a ${typeof value}`

const answer = ({ isAffected, score }: Exclude<CompiledRule, { fault: string }>, context: Context): RuleAnswer => {
  forget()
  refill()
  const value = isAffected.evaluate(context)
  if (typeof value !== 'boolean') return without(outcomes.unscored, `this returns ${kindOf(value)}, not true or false`)
  const evidence = value ? quotes() : []
  return {
    result: value ? outcomes.affected : outcomes.notAffected,
    score: score ? scoreOf(score, context) : Number.NaN,
    ...(evidence.length > 0 && { note: { evidence } }),
  }
}

export const ask = (rule: CompiledRule, context: Context): RuleAnswer => {
  if ('fault' in rule) return without(outcomes.failed, rule.fault)
  try {
    return answer(rule, context)
  } catch (error) {
    const reason = reasonOf(error)
    if (reason !== undefined) return without(outcomes.unscored, reason)
    if (error instanceof Overspent) return without(outcomes.failed, error.message)
    const message = error instanceof Error ? error.message : 'for an unknown reason'
    return without(outcomes.failed, `this cannot be evaluated: ${message.slice(0, longestMessage)}`)
  }
}
