// Describes definitions in words.

import { type Definition, definitionOf, type Operator, readDefinition } from './draft.ts'
import type { Kind } from './search.ts'

export const comparisonWords: Record<Operator, string> = {
  gt: 'more than',
  gte: 'at least',
  lt: 'less than',
  lte: 'at most',
}

type Output = Definition['judge']['output']

const listOf = (words: string[]): string => words.join(', ')

const categoryWords = ({ categories, multiple, allowOther, allowNotApplicable }: Output): string[] => {
  const affected = categories.filter((category) => category.affected).map(({ label }) => label)
  return [
    `Chooses ${multiple ? 'any' : 'one'} of these categories: ${listOf(categories.map(({ label }) => label))}`,
    affected.length > 0 ? `Affected: ${listOf(affected)}` : 'No category counts as affected',
    ...(allowOther ? ['May answer that no category fits'] : []),
    ...(allowNotApplicable ? ['May answer that the question does not apply'] : []),
  ]
}

const fieldWords = ({ fields, condition }: Output): string[] => [
  `Extracts ${listOf(fields.map(({ key, type, required }) => `${key} (${type}${required ? ', required' : ''})`))}`,
  ...(condition ? [`Affected when: ${condition}`] : []),
]

const decisionWords = ({ decided, op }: Output): string[] => {
  if (!decided) return []
  const { threshold, calibration } = decided.decision
  return calibration
    ? [`Aligned: affected if the score’s probability is at least ${threshold * 100}%`]
    : [`Aligned: affected if the score is ${comparisonWords[op]} ${threshold}`]
}

/** Returns one line for each guideline and example. */
const learnedWords = ({ guidelines, learned: { examples = [] } }: Definition['judge']): string[] => [
  ...guidelines.map(({ text }) => `Guideline: ${text}`),
  ...examples.map(({ correctResult, excerpt }) =>
    excerpt === undefined ? 'Example (hidden until you have judged it)' : `Example (${correctResult}): ${excerpt}`,
  ),
]

/** Returns sentences about a judge's output, without periods. */
export const outputWords = (output: Output): string[] => {
  switch (output.type) {
    case 'boolean':
      return ['Answers yes or no']
    case 'score':
      return [
        `Scores from ${output.min} to ${output.max}`,
        `Affected if the score is ${comparisonWords[output.op]} ${output.value}`,
        ...decisionWords(output),
      ]
    case 'category':
      return categoryWords(output)
    case 'extract':
      return fieldWords(output)
  }
}

const ruleParts = ['score', 'categories', 'fields'] as const

/** Returns a definition as text, to compare versions. */
export const textOf = (kind: Kind, stored: Record<string, unknown>): string => {
  if (kind === 'external') return ''
  if (kind === 'scorecard') return JSON.stringify(stored, null, 2)
  const { rule, judge, scorecard } = readDefinition(stored)
  if (kind === 'rule') {
    const parts = ruleParts.filter((part) => rule[part] !== '').map((part) => `${part}: ${rule[part]}`)
    return [rule.expression, ...parts].join('\n\n')
  }
  const { type } = judge.output
  const details =
    type === 'category' || type === 'extract'
      ? JSON.stringify(definitionOf(kind, { rule, judge, scorecard }).output, null, 2)
      : outputWords(judge.output).join('\n')
  return [judge.criteria, '', details, ...(judge.model ? [`Model: ${judge.model}`] : []), ...learnedWords(judge)].join(
    '\n',
  )
}
