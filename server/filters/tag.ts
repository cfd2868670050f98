import Type from 'typebox'

/** A conversation tag, as people type it. */
export const Tag = Type.String({
  minLength: 1,
  maxLength: 50,
  // A comma separates tags in a query.
  pattern: '^(?=[^]*\\S)[^,]*$',
  description: 'Without commas. Stored in lowercase.',
  examples: ['escalated'],
})

/** Returns tags in their stored form: trimmed, lowercase, unique, and sorted. */
export const normalizeTags = (tags: string[]): string[] =>
  [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].sort()
