/** Shortens a text to a number of characters without splitting a surrogate pair. */
export const cut = (text: string, length: number): string =>
  text
    .slice(0, length)
    .toWellFormed()
    .replace(/\uFFFD$/, '')

/** Shortens a text, and marks that it was shortened. Removes what PostgreSQL cannot store. */
export const storable = (text: string, length: number): string => {
  const clean = text.replaceAll('\0', '').toWellFormed()
  return clean.length > length ? `${cut(clean, length - 1)}…` : clean
}

/**
 * Estimates the tokens of a text: a third too high for English, about right for Chinese. Small windows are better than
 * rejected ones.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)
