import { isDenied } from './denied.ts'
import { rowAt } from './spelled.ts'
import { isMark, isQuoted, isWord, type Passage, type Token, tokensOf } from './tokens.ts'

/** Finds the words of a value in text. Digits can be spelled, as in `A one two three`. Pure. */

/** Scripts that are written without spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/**
 * Consecutive words and digits. Each part of a word in a script without spaces can start and end a value, and so can a
 * name before the ’s of a possessive.
 */
type Piece = { text: string; isDigits: boolean; from: number; to: number }

/** Returns the end of digits with a decimal point or comma, so that 24.50 is not the same as 2450. */
const decimalEnd = (tokens: readonly Token[], at: number): number | undefined => {
  const isJoined = (from: number) =>
    isMark(tokens[from], '.,') &&
    tokens[from]?.isGlued === true &&
    tokens[from + 1]?.kind === 'digits' &&
    tokens[from + 1]?.isGlued === true
  if (tokens[at]?.kind !== 'digits' || !isJoined(at + 1) || isJoined(at + 3)) return undefined
  return at + 3
}

const piecesOfToken = ({ kind, text }: Token, span: Pick<Piece, 'from' | 'to'>): Piece[] => {
  if (unspaced.test(text)) return [...text].map((part) => ({ text: part, isDigits: false, ...span }))
  if (/.'s$/.test(text)) {
    return [
      { text: text.slice(0, -2), isDigits: false, ...span },
      { text: "'s", isDigits: false, ...span },
    ]
  }
  return kind === 'mark' ? [] : [{ text, isDigits: kind === 'digits', ...span }]
}

/** Optionally reads spelled numbers as digits. */
const piecesOf = (tokens: readonly Token[], readsNumbers: boolean): Piece[] => {
  const pieces: Piece[] = []
  for (let at = 0; at < tokens.length; ) {
    const row = readsNumbers ? rowAt(tokens, at) : []
    const end = row.at(-1)?.end ?? decimalEnd(tokens, at) ?? at + 1
    const given = tokens.slice(at, end)
    const [first] = given
    const span = { from: at, to: end }
    at = end
    if (row.length > 0) pieces.push(...row.map(({ digits }) => ({ text: digits, isDigits: true, ...span })))
    else if (given.length > 1) pieces.push({ text: given.map(({ text }) => text).join(''), isDigits: true, ...span })
    else if (first) pieces.push(...piecesOfToken(first, span))
  }
  return pieces
}

const joined = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('')

/**
 * Returns whether a mark changes the meaning. Punctuation does not, except for a minus, and a slash or colon between
 * digits.
 */
const isMeaningful = (tokens: readonly Token[], at: number): boolean => {
  const token = tokens[at]
  if (token?.kind !== 'mark') return false
  if (token.text === '-') return isSign(tokens, at)
  if ('/:'.includes(token.text)) return tokens[at - 1]?.kind === 'digits' && tokens[at + 1]?.kind === 'digits'
  return /^[\p{S}\p{No}%#@&*_\\]$/u.test(token.text) && !'®©`^'.includes(token.text)
}

/** Returns whether a hyphen is a minus sign: it comes before digits and does not connect them with anything. */
const isSign = (tokens: readonly Token[], at: number): boolean => {
  const [token, next] = [tokens[at], tokens[at + 1]]
  const isConnected = token?.isGlued && !isMark(tokens[at - 1], '(')
  return isMark(token, '-') && !isConnected && next?.kind === 'digits' && next.isGlued
}

/** Words with the same meaning as a mark. */
const spoken: Record<string, string[]> = {
  $: ['dollar', 'dollars', 'buck', 'bucks', 'usd'],
  '€': ['euro', 'euros', 'eur'],
  '£': ['pound', 'pounds', 'quid', 'gbp'],
  '%': ['percent'],
  '#': ['number'],
  '+': ['plus'],
  '-': ['minus', 'negative'],
  '°': ['degree', 'degrees'],
}

/** Returns the tokens that a value can consist of: its words, and marks directly next to them. */
const spanOf = (tokens: readonly Token[], from: number, to: number): readonly Token[] => {
  const [before, after] = [tokens[from - 1], tokens[to]]
  const isAfterOther = after?.kind === 'mark' && !after.isGlued && tokens[to + 1]?.isGlued
  const first = before && (before.kind === 'word' || tokens[from]?.isGlued) ? from - 1 : from
  let last = to
  if (after && !isAfterOther) last++
  while (last > to && tokens[last]?.kind === 'mark' && tokens[last]?.isGlued && tokens[last - 1]?.kind === 'mark')
    last++
  return tokens.slice(first, last)
}

/** Returns whether the text contains every mark that changes the value's meaning, or a word for it. */
const saysMarks = (span: readonly Token[], marks: readonly string[]): boolean =>
  [...new Set(marks)].every((mark) => {
    const equivalents = span.filter(({ kind, text }) =>
      kind === 'mark' ? text === mark : spoken[mark]?.includes(text),
    )
    return equivalents.length >= marks.filter((other) => other === mark).length
  })

/** Returns whether a sign before the first word or after the last word belongs to that word: -15, minus 15, C++. */
const hasSignAround = (tokens: readonly Token[], from: number, to: number, marks: readonly string[]): boolean => {
  const isNegative = isSign(tokens, from - 1) || isWord(tokens[from - 1], 'minus', 'negative')
  if (tokens[from]?.kind === 'digits' && isNegative && !marks.includes('-')) return true
  const after = tokens[to]
  if (!isMark(after, '+#') || !after?.isGlued || marks.includes(after.text)) return false
  const next = tokens[to + 1]
  return !next?.isGlued || next.kind === 'mark'
}

const isGluedMark = (tokens: readonly Token[], at: number, marks: string): boolean =>
  isMark(tokens[at], marks) && tokens[at]?.isGlued === true && tokens[at + 1]?.isGlued === true

/** Returns whether the value is only part of a code such as A1234, or of an address such as john.smith@acme.com. */
const isPartOfCode = (tokens: readonly Token[], from: number, to: number, marks: readonly string[]): boolean => {
  const [first, before, after] = [tokens[from], tokens[from - 1], tokens[to]]
  if (first?.kind === 'digits' && first.isGlued && before?.kind === 'word') return true
  const isCode = tokens.slice(from, to).some(({ kind }) => kind === 'digits') && first?.kind === 'word'
  if (isCode && tokens[to - 1]?.kind === 'digits' && after?.kind === 'word' && after.isGlued) return true
  if (!marks.includes('@')) return false
  const isContinued = isGluedMark(tokens, to, '.-_') && tokens[to + 1]?.kind !== 'mark'
  return isContinued || isGluedMark(tokens, from - 1, '.-_+')
}

/** Returns the end of the pieces that form the value, or undefined if they don't form it. */
const endOfText = (pieces: readonly Piece[], start: number, wanted: string): number | undefined => {
  let text = ''
  let at = start
  for (; at < pieces.length && text.length < wanted.length; at++) {
    text += pieces[at]?.text ?? ''
    if (!wanted.startsWith(text)) return undefined
  }
  return text === wanted ? at : undefined
}

/** Returns whether a slash or colon divides the digits, so that room 1/23 is not room 123. */
const isDivided = (tokens: readonly Token[], from: number, to: number, marks: readonly string[]): boolean =>
  tokens
    .slice(from, to)
    .some((token, offset) => isMark(token, '/:') && isMeaningful(tokens, from + offset) && !marks.includes(token.text))

/**
 * Returns whether the value starts and ends with a complete piece, is quoted, and does not cut through a longer number.
 */
const containsAt = (passage: Passage, pieces: readonly Piece[], start: number, { text, marks }: Needle): boolean => {
  const { tokens } = passage
  const end = endOfText(pieces, start, text)
  if (end === undefined) return false
  const [first, before] = [pieces[start], pieces[start - 1]]
  const [last, after] = [pieces[end - 1], pieces[end]]
  if ((first?.isDigits && before?.isDigits) || (last?.isDigits && after?.isDigits)) return false
  const [from, to] = [first?.from ?? 0, last?.to ?? 0]
  const isPart = [hasSignAround, isPartOfCode, isDivided].some((is) => is(tokens, from, to, marks))
  if (isPart || isDenied(tokens, from)) return false
  return isQuoted(passage, from, to) && saysMarks(spanOf(tokens, from, to), marks)
}

type Needle = { text: string; marks: string[] }

/** Cached, because the same passage is read for each list entry. */
const knownPieces = new WeakMap<Passage, Map<boolean, Piece[]>>()

const piecesOfPassage = (passage: Passage, readsNumbers: boolean): Piece[] => {
  const known = knownPieces.get(passage) ?? new Map<boolean, Piece[]>()
  knownPieces.set(passage, known)
  const pieces = known.get(readsNumbers) ?? piecesOf(passage.tokens, readsNumbers)
  known.set(readsNumbers, pieces)
  return pieces
}

const contains = (passage: Passage, value: string, readsNumbers: boolean): boolean => {
  const tokens = tokensOf(value)
  const text = joined(piecesOf(tokens, readsNumbers))
  if (text === '') return false
  const marks = tokens.flatMap((token, at) => (isMeaningful(tokens, at) ? [token.text] : []))
  const pieces = piecesOfPassage(passage, readsNumbers)
  return pieces.some((_, start) => containsAt(passage, pieces, start, { text, marks }))
}

const hasDigit = (value: string): boolean => /\d/.test(value)

/** Returns whether a quote contains a value word for word, apart from case, spaces, and punctuation. */
export const saysText = (passage: Passage, value: string): boolean =>
  contains(passage, value, false) || (hasDigit(value) && contains(passage, value, true))
