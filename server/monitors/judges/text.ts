/** Shortens text to a number of characters without splitting a surrogate pair. */
export const cut = (text: string, length: number): string =>
  text
    .slice(0, length)
    .toWellFormed()
    .replace(/\uFFFD$/, '')

/** Shortens text, and marks it as shortened. Removes characters that PostgreSQL cannot store. */
export const storable = (text: string, length: number): string => {
  const clean = text.replaceAll('\0', '').toWellFormed()
  return clean.length > length ? `${cut(clean, length - 1)}…` : clean
}
