import Type from 'typebox'

/**
 * A category or field of a monitor. Keys are short, because exports use them in column names and an index stores them.
 */
export const keyPattern = '^[A-Za-z][A-Za-z0-9_]{0,63}$'

const format = 'Letters, digits, and underscores, starting with a letter.'

export const CategoryKey = Type.String({
  pattern: keyPattern,
  maxLength: 64,
  description: `${format} \`other\` is reserved for conversations that no category fits, and \`not_applicable\` for conversations to which the monitor’s question does not apply.`,
  examples: ['billing'],
})

export const FieldKey = Type.String({ pattern: keyPattern, maxLength: 64, description: format, examples: ['amount'] })

/** The category for conversations that no other category fits. */
export const other = 'other'
/** The category for conversations that the monitor's question does not apply to. It excludes all other categories. */
export const notApplicable = 'not_applicable'

/** The maximum number of categories in a result. An index entry must have space for them. */
export const mostCategories = 20

/** Returns whether a conversation is neither affected nor unaffected according to its categories. */
export const isOpen = (categories: readonly string[]): boolean =>
  categories.includes(other) || categories.includes(notApplicable)
