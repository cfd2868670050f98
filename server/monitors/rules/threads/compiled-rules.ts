import { bytesOf, type CompiledRule, compileRule } from '../evaluate.ts'

/** Caches compiled rules, because they run repeatedly. Drops the rule that was not used for the longest time. */

type Source = { expression: string; score?: string | undefined }
export type KeyedRule = Source & { key: string }

/** Adds the key of a rule. It is created once for many uses, because the texts can be long. */
export const keyed = ({ expression, score }: Source): KeyedRule => ({
  expression,
  score,
  key: JSON.stringify([expression, score]),
})

const mostBytes = 100_000_000

const kept = new Map<string, CompiledRule>()
let bytes = 0

export const compiledRule = ({ expression, score, key }: KeyedRule): CompiledRule => {
  const known = kept.get(key)
  if (known) {
    kept.delete(key)
    kept.set(key, known)
    return known
  }
  const rule = compileRule(expression, score)
  kept.set(key, rule)
  bytes += bytesOf(rule)
  for (const [oldest, other] of kept) {
    if (bytes <= mostBytes) break
    kept.delete(oldest)
    bytes -= bytesOf(other)
  }
  return rule
}
