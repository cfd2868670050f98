// Converts a definition between form fields and the API's format.

import type { Monitor } from './queries.ts'
import type { Kind } from './search.ts'

export type Operator = 'gte' | 'gt' | 'lte' | 'lt'

export type Definition = {
  rule: { expression: string; score: string }
  judge: {
    criteria: string
    model: string
    output: { type: 'boolean' | 'score'; min: number; max: number; op: Operator; value: number }
  }
}

type StoredOutput =
  | { type: 'boolean' }
  | { type: 'score'; min: number; max: number; affectedWhen: { op: Operator; value: number } }

type Stored = { expression?: string; score?: string; criteria?: string; model?: string; output?: StoredOutput }

/** Reads a stored definition. Its type depends on the kind of the monitor, which the API's types don't express. */
export const readDefinition = (stored: Record<string, unknown>): Definition => {
  const { expression = '', score = '', criteria = '', model = '', output } = stored as Stored
  const scored = output?.type === 'score' ? output : undefined
  return {
    rule: { expression, score },
    judge: {
      criteria,
      model,
      output: {
        type: scored ? 'score' : 'boolean',
        min: scored?.min ?? 1,
        max: scored?.max ?? 5,
        op: scored?.affectedWhen.op ?? 'lt',
        value: scored?.affectedWhen.value ?? 3,
      },
    },
  }
}

export type Draft = Definition & {
  name: string
  description: string
  samplePercent: string
}

export const draftOf = (monitor: Monitor | undefined): Draft => ({
  ...readDefinition(monitor?.currentVersion.definition ?? {}),
  name: monitor?.name ?? '',
  description: monitor?.description ?? '',
  samplePercent: String(monitor?.samplePercent ?? 100),
})

export const definitionOf = (kind: Kind, { rule, judge }: Definition): Record<string, unknown> => {
  if (kind === 'external') return {}
  if (kind === 'rule')
    return { expression: rule.expression.trim(), ...(rule.score.trim() && { score: rule.score.trim() }) }
  const { type, min, max, op, value } = judge.output
  return {
    criteria: judge.criteria.trim(),
    output:
      type === 'boolean'
        ? { type }
        : { type, min: Number(min), max: Number(max), affectedWhen: { op, value: Number(value) } },
    ...(judge.model.trim() && { model: judge.model.trim() }),
  }
}

/** Returns the form field of an API path. */
export const fieldOf = (kind: Kind) => (path: string) =>
  path
    .replace(/^definition\.output\.affectedWhen\./, 'judge.output.')
    .replace(/^definition\./, kind === 'rule' ? 'rule.' : 'judge.')

/** Returns a definition as text, to compare versions. */
export const textOf = (kind: Kind, stored: Record<string, unknown>): string => {
  const { rule, judge } = readDefinition(stored)
  if (kind === 'rule') return rule.score ? `${rule.expression}\n\nscore: ${rule.score}` : rule.expression
  if (kind === 'external') return ''
  const { type, min, max, op, value } = judge.output
  const output = type === 'boolean' ? 'yes or no' : `score ${min} to ${max}, affected when ${op} ${value}`
  return [judge.criteria, '', `answer: ${output}`, ...(judge.model ? [`model: ${judge.model}`] : [])].join('\n')
}
