import { isOpen, notApplicable } from '../../filters/category.ts'
import { forget, quotes } from './evidence.ts'
import { Overspent, refill } from './language/budget.ts'
import { type Compiled, compile, type ExpressionKind } from './language/compile.ts'
import { type Note, outcomes, type RuleValue } from './outcome.ts'
import { reasonOf } from './reasons.ts'
import type { RuleSource } from './source.ts'
import type { Context } from './subject.ts'

/** Evaluates one rule for one conversation. */

export type RuleAnswer = { result: number; score: number; note?: Note }

type Expressions = {
  isAffected: Compiled
  score: Compiled | undefined
  categories: Compiled | undefined
  fields: Compiled | undefined
}

export type CompiledRule = Expressions | { fault: string }

/** Returns the approximate maximum memory that a rule needs. */
export const bytesOf = (rule: CompiledRule): number =>
  'fault' in rule ? 1_000 : Object.values(rule).reduce((sum, compiled) => sum + (compiled?.bytes ?? 0), 0)

export const compileRule = ({ expression, score, categories, fields, over }: RuleSource): CompiledRule => {
  const isAffected = compile(expression, 'condition', { scope: over })
  if ('fault' in isAffected) return isAffected
  const optional = (text: string | undefined, kind: ExpressionKind) =>
    text === undefined ? undefined : compile(text, kind)
  const [number, named, values] = [
    optional(score, 'number'),
    optional(categories, 'categories'),
    optional(fields, 'fields'),
  ]
  if (number && 'fault' in number) return number
  if (named && 'fault' in named) return named
  if (values && 'fault' in values) return values
  return { isAffected, score: number, categories: named, fields: values }
}

const longestMessage = 200

/**
 * Returns a result without a value. The reason can contain NUL characters from names in the rule, which the database
 * cannot store.
 */
const without = (result: number, reason: string): RuleAnswer => ({
  result,
  score: Number.NaN,
  note: { reason: reason.replaceAll('\0', '\ufffd') },
})

/** Returns the score. Missing values, NaN, and infinite numbers are not scores. */
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

/** Returns the categories that are true. Returns undefined if any of them is unknown, because it might be true. */
const categoriesOf = (categories: Compiled, context: Context): string[] | undefined => {
  try {
    const values = [...(categories.evaluate(context) as Map<string, unknown>)]
    if (values.some(([, value]) => typeof value !== 'boolean')) return undefined
    return values.flatMap(([key, value]) => (value === true ? [key] : []))
  } catch (error) {
    if (reasonOf(error) === undefined) throw error
    return undefined
  }
}

const longestText = 1_000
const longestEntry = 200
const mostEntries = 100

const storedText = (text: string, length: number): string => text.replaceAll('\0', '').slice(0, length).toWellFormed()

/** Returns the stored form of a value. Values that can't be stored, such as maps, are unknown. */
const fieldOf = (value: unknown): RuleValue => {
  if (typeof value === 'string') return storedText(value, longestText)
  if (typeof value === 'boolean') return value
  if (typeof value === 'bigint' || typeof value === 'number')
    return Number.isFinite(Number(value)) ? Number(value) : null
  if (value instanceof Date) return value.toISOString()
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string')) return null
  return value.slice(0, mostEntries).map((entry: string) => storedText(entry, longestEntry))
}

/** Returns the value of each field, and null for those that are unknown. */
const fieldsOf = (fields: Compiled, context: Context): Record<string, RuleValue> => {
  const values = fields.evaluate(context) as Map<string, unknown>
  return Object.fromEntries([...values].map(([key, value]) => [key, fieldOf(value)]))
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'object' ? 'a list or map' : `a ${typeof value}`

/** Returns whether the conversation is affected, or the reason why that is unknown. */
const verdictOf = (isAffected: Compiled, context: Context): boolean | string => {
  try {
    const value = isAffected.evaluate(context)
    return typeof value === 'boolean' ? value : `this returns ${kindOf(value)}, not true or false`
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    return reason
  }
}

/** Returns the verdict, unless the categories mean that the rule makes no decision about the conversation. */
const decide = (verdict: boolean | string, categories: readonly string[]): boolean | string => {
  if (categories.includes(notApplicable)) return 'the rule does not apply to the conversation'
  return verdict === false && isOpen(categories) ? 'no category fits' : verdict
}

const answer = (rule: Expressions, context: Context): RuleAnswer => {
  forget()
  refill()
  const isAffected = verdictOf(rule.isAffected, context)
  if (isAffected !== true) forget()
  const categories = rule.categories && categoriesOf(rule.categories, context)
  const verdict = decide(isAffected, categories ?? [])
  const evidence = verdict === true || (categories && categories.length > 0) ? quotes() : []
  const fields = rule.fields && fieldsOf(rule.fields, context)
  const note = {
    ...(evidence.length > 0 && { evidence }),
    ...(categories && { categories }),
    ...(fields && { fields }),
  }
  if (typeof verdict === 'string') {
    const answered = without(outcomes.unscored, verdict)
    return { ...answered, note: { ...note, ...answered.note } }
  }
  return {
    result: verdict ? outcomes.affected : outcomes.notAffected,
    score: rule.score ? scoreOf(rule.score, context) : Number.NaN,
    ...(Object.keys(note).length > 0 && { note }),
  }
}

export const ask = (rule: CompiledRule, context: Context): RuleAnswer => {
  if ('fault' in rule) return without(outcomes.failed, rule.fault)
  try {
    return answer(rule, context)
  } catch (error) {
    if (error instanceof Overspent) return without(outcomes.failed, error.message)
    const message = error instanceof Error ? error.message : 'for an unknown reason'
    return without(outcomes.failed, `this cannot be evaluated: ${message.slice(0, longestMessage)}`)
  }
}
