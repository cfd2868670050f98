/** The expressions of a rule. Threads receive them as text. */
export type RuleSource = {
  expression: string
  score?: string | undefined
  /** A map from categories to conditions. */
  categories?: string | undefined
  /** A map from fields to values. */
  fields?: string | undefined
  /** The set of variables. By default, the variables of a conversation. */
  over?: 'fields' | undefined
}

const textOf = ({ expression, score, categories, fields }: RuleSource): string =>
  [expression, score, categories, fields].filter((text) => text !== undefined).join(' ')

/** Returns whether any expression of a rule reads a variable. */
export const readsVariable = (rule: RuleSource, name: 'turns' | 'metrics' | 'sound'): boolean =>
  new RegExp(`\\b${name}\\b`).test(textOf(rule))
