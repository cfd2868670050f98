import { bytesOf, type CompiledRule, compileRule } from '../evaluate.ts'
import type { RuleSource } from '../source.ts'

/** Caches compiled rules, because they run repeatedly. Drops the least recently used rule. */

export type KeyedRule = RuleSource & { key: string }

/** Adds the key to a rule. The key is created once for many uses, because the expressions can be long. */
export const keyed = (rule: RuleSource): KeyedRule => {
  const { expression, score, categories, fields, over } = rule
  return { ...rule, key: JSON.stringify([expression, score, categories, fields, over]) }
}

const mostBytes = 100_000_000

const kept = new Map<string, CompiledRule>()
let bytes = 0

export const compiledRule = (given: KeyedRule): CompiledRule => {
  const { key } = given
  const known = kept.get(key)
  if (known) {
    kept.delete(key)
    kept.set(key, known)
    return known
  }
  const rule = compileRule(given)
  kept.set(key, rule)
  bytes += bytesOf(rule)
  for (const [oldest, other] of kept) {
    if (bytes <= mostBytes) break
    kept.delete(oldest)
    bytes -= bytesOf(other)
  }
  return rule
}
