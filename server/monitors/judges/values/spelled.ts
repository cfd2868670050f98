import { isMark, isWord, type Token } from './tokens.ts'

/** Reads numbers that are spelled in English words. Pure. */

/** A spoken number, and the position of the next token. `digits` has leading zeros. */
export type SpelledNumber = {
  value: number
  digits: string
  end: number
  /** Whether it was said digit by digit: `five`, `double five`. */
  isDigits: boolean
}

const small = [
  ['zero', 'oh', 'o', 'nought'],
  ['one'],
  ['two'],
  ['three'],
  ['four'],
  ['five'],
  ['six'],
  ['seven'],
  ['eight'],
  ['nine'],
  ['ten'],
  ['eleven'],
  ['twelve'],
  ['thirteen'],
  ['fourteen'],
  ['fifteen'],
  ['sixteen'],
  ['seventeen'],
  ['eighteen'],
  ['nineteen'],
]
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']

const units = new Map(small.flatMap((words, value) => words.map((word) => [word, value] as const)))
const byTens = new Map(tens.map((word, at) => [word, (at + 2) * 10] as const))
byTens.set('fourty', 40)

const scales = new Map([
  ['thousand', 1_000],
  ['million', 1_000_000],
  ['billion', 1_000_000_000],
])

type Read = { value: number; end: number }

/** Skips a hyphen within a number, as in twenty-three. */
const afterHyphen = (tokens: readonly Token[], at: number): number =>
  isMark(tokens[at], '-') && tokens[at]?.isGlued === true && tokens[at + 1]?.isGlued === true ? at + 1 : at

const unitAt = (tokens: readonly Token[], at: number): number | undefined => {
  const token = tokens[at]
  return token?.kind === 'word' ? units.get(token.text) : undefined
}

const below100 = (tokens: readonly Token[], at: number): Read | undefined => {
  const token = tokens[at]
  if (token?.kind !== 'word') return undefined
  const unit = units.get(token.text)
  if (unit !== undefined) return { value: unit, end: at + 1 }
  const ten = byTens.get(token.text)
  if (ten === undefined) return undefined
  const next = afterHyphen(tokens, at + 1)
  const more = unitAt(tokens, next)
  const isOne = more !== undefined && more > 0 && more < 10
  return isOne ? { value: ten + more, end: next + 1 } : { value: ten, end: at + 1 }
}

const afterAnd = (tokens: readonly Token[], at: number): number => (isWord(tokens[at], 'and') ? at + 1 : at)

const below1000 = (tokens: readonly Token[], at: number): Read | undefined => {
  const isA = isWord(tokens[at], 'a', 'an') && isWord(tokens[at + 1], 'hundred', ...scales.keys())
  const first = isA ? { value: 1, end: at + 1 } : below100(tokens, at)
  if (!first) return undefined
  const next = afterHyphen(tokens, first.end)
  if (!isWord(tokens[next], 'hundred') || first.value === 0) return first
  const value = first.value * 100
  const rest = below100(tokens, afterHyphen(tokens, afterAnd(tokens, next + 1)))
  return rest && rest.value > 0 ? { value: value + rest.value, end: rest.end } : { value, end: next + 1 }
}

/** Reads a number below a thousand, multiplied by its scale. */
const groupAt = (tokens: readonly Token[], at: number): (Read & { scale: number }) | undefined => {
  const part = below1000(tokens, at)
  if (!part) return undefined
  const next = afterHyphen(tokens, part.end)
  const token = tokens[next]
  const scale = token?.kind === 'word' ? scales.get(token.text) : undefined
  return scale === undefined ? { ...part, scale: 1 } : { value: part.value * scale, end: next + 1, scale }
}

/** Reads the longest cardinal number at a position: `two hundred and five`, `a thousand`, `twenty-three`. */
export const cardinalAt = (tokens: readonly Token[], at: number): SpelledNumber | undefined => {
  const first = groupAt(tokens, at)
  if (!first) return undefined
  let { value, end, scale } = first
  while (scale > 1) {
    const group = groupAt(tokens, afterAnd(tokens, end))
    // After `two thousand`, only a smaller number belongs to the same number.
    if (!group || group.value === 0 || group.value >= scale) break
    value += group.value
    end = group.end
    scale = group.scale
  }
  return { value, digits: String(value), end, isDigits: end === at + 1 && value < 10 }
}

const ordinals = new Map<string, number>([
  ['first', 1],
  ['second', 2],
  ['third', 3],
  ['fifth', 5],
  ['eighth', 8],
  ['ninth', 9],
  ['twelfth', 12],
  ['twentieth', 20],
  ['thirtieth', 30],
  ...[4, 6, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19].map((value) => [`${small[value]?.[0]}th`, value] as const),
])

/** Reads the number of a day in a month: `third`, `twenty-first`, `thirty first`. */
export const ordinalAt = (tokens: readonly Token[], at: number): Read | undefined => {
  const token = tokens[at]
  if (token?.kind !== 'word') return undefined
  const alone = ordinals.get(token.text)
  if (alone !== undefined) return { value: alone, end: at + 1 }
  const ten = byTens.get(token.text)
  const next = afterHyphen(tokens, at + 1)
  const unit = tokens[next]?.kind === 'word' ? ordinals.get(tokens[next].text) : undefined
  return ten !== undefined && unit !== undefined && unit < 10 ? { value: ten + unit, end: next + 1 } : undefined
}

const times = new Map([
  ['double', 2],
  ['triple', 3],
])

const isZeroLetter = (token: Token | undefined): boolean => isWord(token, 'o', 'oh')

/** Reads one of several consecutive numbers: a cardinal, or `double five`. */
const partAt = (tokens: readonly Token[], at: number): SpelledNumber | undefined => {
  const token = tokens[at]
  const count = token?.kind === 'word' ? times.get(token.text) : undefined
  const unit = count === undefined ? undefined : unitAt(tokens, at + 1)
  if (count !== undefined) {
    if (unit === undefined || unit > 9) return undefined
    const digits = String(unit).repeat(count)
    return { value: Number(digits), digits, end: at + 2, isDigits: true }
  }
  return cardinalAt(tokens, at)
}

/** Reads a single digit, or `double five`. */
const digitAt = (tokens: readonly Token[], at: number): { digits: string; end: number } | undefined => {
  if (isWord(tokens[at], ...times.keys())) return partAt(tokens, at)
  const unit = unitAt(tokens, at)
  return unit !== undefined && unit < 10 ? { digits: String(unit), end: at + 1 } : undefined
}

/**
 * Reads the digits after a decimal point: `one four`, `double five`, or one number such as `twenty-five`. The digits are
 * undefined if the words can mean several numbers.
 */
export const decimalsAt = (
  tokens: readonly Token[],
  at: number,
): { digits: string | undefined; end: number } | undefined => {
  const token = tokens[at]
  if (token?.kind === 'digits') return { digits: token.text, end: at + 1 }
  const first = below100(tokens, at)
  if (first && first.value >= 10) {
    return { digits: rowAt(tokens, first.end).length > 0 ? undefined : String(first.value), end: first.end }
  }
  let digits = ''
  let end = at
  for (let digit = digitAt(tokens, end); digit; digit = digitAt(tokens, end)) {
    digits += digit.digits
    end = digit.end
  }
  if (digits === '') return undefined
  return { digits: below100(tokens, end) ? undefined : digits, end }
}

/**
 * Reads numbers that follow each other without a comma or another word, as in `four fifteen` or `five five five`. The
 * letter o is only a zero next to another number.
 */
export const rowAt = (tokens: readonly Token[], at: number): SpelledNumber[] => {
  const row: SpelledNumber[] = []
  for (let next = at; ; ) {
    const from = row.length > 0 ? afterHyphen(tokens, next) : next
    const part = partAt(tokens, from)
    if (!part) break
    row.push(part)
    next = part.end
  }
  const [first, ...others] = row
  if (first && others.length === 0 && isZeroLetter(tokens[at])) return []
  return row
}
