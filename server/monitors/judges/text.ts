/** Cuts to a number of characters, never within a surrogate pair. */
export const cut = (text: string, length: number): string =>
  text
    .slice(0, length)
    .toWellFormed()
    .replace(/\uFFFD$/, '')

/** Shortens text from others visibly, and removes what PostgreSQL cannot store. */
export const storable = (text: string, length: number): string => {
  const clean = text.replaceAll('\0', '').toWellFormed()
  return clean.length > length ? `${cut(clean, length - 1)}…` : clean
}

/** A third too high for English, about right for Chinese: windows that are too small are better than rejected ones. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)
