/** Splits spoken text into words, digits, and marks. Pure. */

export type Token = {
  kind: 'digits' | 'word' | 'mark'
  text: string
  /** Whether nothing separates it from the previous token. */
  isGlued: boolean
  /** Whether a single space separates it from the previous token. */
  isNext: boolean
}

/** The digit zero in other scripts. */
const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xe50]

const asciiDigit = (digit: string): string => {
  const code = digit.codePointAt(0) ?? 0
  const zero = zeros.find((first) => code >= first && code < first + 10)
  return zero === undefined ? digit : String(code - zero)
}

/** Fractions and small digits, such as ½ and ². They are not part of the number before them. */
const notSmall = /[^¼½¾⅐-⅞↉²³¹⁰⁴-⁹₀-₉]+/gu

/** Normalizes the spellings of one text: digits, dashes, apostrophes, and case. */
const normalize = (text: string): string =>
  text
    .toWellFormed()
    .replace(notSmall, (part) => part.normalize('NFKC'))
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/[‘’‚‛′`´]/g, "'")
    .replace(/[‐‑‒–—―−]/g, '-')
    .replaceAll('İ', 'I')
    .toLowerCase()
    // The dots of a.m. and p.m. don't end a sentence.
    .replace(/\b([ap])\.\s?m\b\.?/g, '$1m')

const token = /(\s*)(\d+|\p{L}[\p{L}\p{M}]*(?:'\p{L}+)*|\S)/gu

export const tokensOf = (text: string): Token[] =>
  [...normalize(text).matchAll(token)].map(([, space = '', part = ''], at) => ({
    kind: /^\d/.test(part) ? 'digits' : /^\p{L}/u.test(part) ? 'word' : 'mark',
    text: part,
    isGlued: at > 0 && space === '',
    isNext: at > 0 && space.length === 1,
  }))

/** A quote in its context, so that part of a longer number doesn't count as the whole number. */
export type Passage = {
  tokens: readonly Token[]
  /** The first token of the quote, and the first token after it. */
  from: number
  to: number
}

const isInWord = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /^[\p{L}\p{M}\p{N}]{2}$/u.test(text.slice(at - 1, at + 1))

/** Opens a quote within text. If the quote starts or ends within a word, the whole word counts. */
export const passageOf = (text: string, start = 0, end = text.length): Passage => {
  let [first, last] = [start, end]
  while (isInWord(text, first)) first--
  while (isInWord(text, last)) last++
  const count = (upTo: number) => tokensOf(text.slice(0, upTo)).length
  return { tokens: tokensOf(text), from: count(first), to: count(last) }
}

/** Returns whether any of the tokens between two positions is quoted. */
export const isQuoted = ({ from, to }: Passage, start: number, end: number): boolean => start < to && end > from

export const isMark = (token: Token | undefined, marks: string): boolean =>
  token?.kind === 'mark' && marks.includes(token.text)

export const isWord = (token: Token | undefined, ...words: string[]): boolean =>
  token?.kind === 'word' && words.includes(token.text)
