/** At most so many characters, and none of them half of a pair. */
export const cut = (text: string, length: number): string =>
  text
    .slice(0, length)
    .toWellFormed()
    .replace(/\uFFFD$/, '')

/** What PostgreSQL can store of a text that somebody else wrote, shortened visibly. */
export const storable = (text: string, length: number): string => {
  const clean = text.replaceAll('\0', '').toWellFormed()
  return clean.length > length ? `${cut(clean, length - 1)}…` : clean
}

/** Of English it is a third too many, of Chinese about right: windows are better too small than refused. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)
