import { afterJoin, canContinue, continues } from './compound.ts'
import { isDenied } from './denied.ts'
import { endsPhrase } from './phrases.ts'
import { cardinalAt, decimalsAt, ordinalAt, rowAt, type SpelledNumber } from './spelled.ts'
import { isMark, isQuoted, isWord, type Passage, type Token } from './tokens.ts'

/**
 * Finds the numbers in text, in digits or in English words. Each number has one or more readings. For example, 1,234 is
 * 1234 or 1.234. A number is always read as a whole: 24 is not a reading of `twenty-four fifty`. Pure.
 */

/** Decimal numbers as text, without leading or trailing zeros, so that they compare exactly. */
type Reading = string

type Mention = { readings: Reading[]; end: number }

const canonical = (whole: string, fraction = ''): Reading => {
  const [int, rest] = [whole.replace(/^0+(?=\d)/, ''), fraction.replace(/0+$/, '')]
  return rest === '' ? int : `${int}.${rest}`
}

/** Moves the decimal point to the right. */
const shift = (reading: Reading, places: number): Reading => {
  const [whole = '', fraction = ''] = reading.split('.')
  const digits = fraction.padEnd(places, '0')
  return canonical(whole + digits.slice(0, places), digits.slice(places))
}

const isThousands = (groups: string[]): boolean => {
  const [first = '', ...others] = groups
  return first.length <= 3 && !first.startsWith('0') && others.every((group) => group.length === 3)
}

/** Returns whether digits are grouped as in India: 12,34,567. */
const isLakhs = (groups: string[]): boolean => {
  const [first = '', ...others] = groups
  return (
    first.length <= 2 &&
    !first.startsWith('0') &&
    others.every((group, at) => group.length === (at < others.length - 1 ? 2 : 3))
  )
}

const readingsOf = (groups: string[], separators: string[]): Reading[] => {
  const [whole = '', second = ''] = groups
  if (separators.length === 0) return [canonical(whole)]
  const [first] = separators
  const last = separators.at(-1) ?? ''
  const readings: Reading[] = []
  const areEqual = separators.every((separator) => separator === first)
  if (areEqual && (isThousands(groups) || (first === ',' && isLakhs(groups)))) readings.push(canonical(groups.join('')))
  if (!'.,'.includes(last)) return readings
  if (separators.length === 1) readings.push(canonical(whole, second))
  const [before, fraction] = [groups.slice(0, -1), groups.at(-1)]
  const isDecimal = separators.length > 1 && last !== first && separators.slice(0, -1).every((one) => one === first)
  if (isDecimal && isThousands(before)) readings.push(canonical(before.join(''), fraction))
  return readings
}

const longestUnit = 3

const currencyMarks = '$€£¥'
const currencyCodes = ['usd', 'eur', 'gbp', 'chf', 'cad', 'aud', 'nzd', 'jpy', 'inr', 'sek', 'nok', 'dkk', 'us', 'rs']

/** Units that are connected to a number by a hyphen or slash: `a 30-day return`, `$99/month`. */
const connectedUnits = (
  'second minute min hour hr h day week wk month mo year yr night person user seat unit item piece page star point mile ' +
  'km kilometer meter foot inch kg gram pound lb gallon liter litre mg ml cm mm gb mb percent dollar euro bedroom seater ' +
  'pack step part man'
)
  .split(' ')
  .flatMap((unit) => [unit, `${unit}s`])

/** Reads digits with separators, and groups of three after spaces. */
const numeralAt = (tokens: readonly Token[], at: number) => {
  const groups = [tokens[at]?.text ?? '']
  const separators: string[] = []
  let end = at + 1
  for (;;) {
    const [mark, next] = [tokens[end], tokens[end + 1]]
    if (isMark(mark, ".,'") && mark?.isGlued && next?.kind === 'digits' && next.isGlued) {
      separators.push(mark.text)
      groups.push(next.text)
      end += 2
    } else if (mark?.kind === 'digits' && mark.isNext && mark.text.length === 3 && isSpaced(groups, separators)) {
      separators.push(' ')
      groups.push(mark.text)
      end += 1
    } else break
  }
  return { groups, separators, end }
}

/** Reads a number in digits. The digits in codes, times, dates, and phone numbers are not numbers. */
const digitsAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  if (tokens[at]?.kind !== 'digits') return undefined
  const { groups, separators, end } = numeralAt(tokens, at)
  const readings = readingsOf(groups, separators)
  if (isPartOfCode(tokens, at, end) || isAfterPoint(tokens, at)) return { readings: [], end }
  if (tokens[end]?.kind === 'digits' && tokens[end].isNext && !fractionAfter(tokens, end)) return unclearAt(tokens, end)
  // 2 500 can also be two numbers, as in 2 500 mg tablets.
  const isOneGroup = separators.length === 1 && separators[0] === ' '
  if (isOneGroup && !isMark(tokens[at - 1], currencyMarks) && !endsNumber(tokens, end)) return { readings: [], end }
  const point = separators.length === 0 ? pointAt(tokens, end) : undefined
  if (point) return { readings: withFraction(readings, point.digits), end: point.end }
  const isPlan = groups[0] === '401' && (isWord(tokens[end], 'k') || isWord(tokens[end + 1], 'k'))
  return isPlan ? { readings: [], end } : { readings, end }
}

/** Skips consecutive numbers, which can be one number or several, and a fraction after them. */
const unclearAt = (tokens: readonly Token[], at: number): Mention => {
  let end = at
  while (tokens[end]?.kind === 'digits' && tokens[end]?.isNext) end++
  if (end > at + 1 || !isMark(tokens[end], '/⁄') || tokens[end + 1]?.kind !== 'digits') return { readings: [], end }
  return { readings: [], end: end + 2 }
}

/** Returns whether a number is complete. An amount is complete even though its currency follows. */
const endsNumber = (tokens: readonly Token[], end: number): boolean =>
  endsPhrase(tokens, end) ||
  isMark(tokens[end], currencyMarks) ||
  isWord(tokens[end], ...amountWords, ...centWords, ...currencyCodes)

const isSpaced = (groups: string[], separators: string[]): boolean =>
  isThousands(groups) && separators.every((separator) => separator === ' ')

/** Abbreviations before a number. The space after them is optional, as in `No.5`. */
const abbreviations = ['no', 'nr', 'rs', 'ca']

/** Returns whether a point or comma before the digits makes them a fraction, or the end of another number. */
const isAfterPoint = (tokens: readonly Token[], at: number): boolean => {
  if (isWord(tokens[at - 1], 'point', 'dot')) return true
  const before = tokens[at - 2]
  if (!tokens[at]?.isGlued || !isMark(tokens[at - 1], '.,')) return false
  const isGluedToWord = tokens[at - 1]?.isGlued === true && before?.kind === 'word'
  return !isGluedToWord || (isMark(tokens[at - 1], '.') && !isWord(before, ...abbreviations))
}

/** Reads a fraction without a zero before its point, such as .5. */
const fractionAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  const [mark, digits, after] = [tokens[at], tokens[at + 1], tokens[at + 2]]
  if (!isMark(mark, '.') || digits?.kind !== 'digits' || !digits.isGlued) return undefined
  if (mark?.isGlued && !isMark(tokens[at - 1], `${currencyMarks}-+~(`)) return undefined
  const isLonger = isMark(after, '.,:/-') && after?.isGlued && tokens[at + 3]?.kind === 'digits'
  const isCode = isLonger || isPartOfCode(tokens, at, at + 2)
  return { readings: isCode ? [] : [canonical('0', digits.text)], end: at + 2 }
}

/** Returns whether letters, colons, slashes, or hyphens connect the digits with other characters. */
const isPartOfCode = (tokens: readonly Token[], at: number, end: number): boolean => {
  const [token, before, after, next] = [tokens[at], tokens[at - 1], tokens[end], tokens[end + 1]]
  if (token?.isGlued && before?.kind === 'word') return before.isGlued || !isWord(before, ...currencyCodes)
  const isMinus = isMark(before, '-') && isMark(tokens[at - 2], currencyMarks)
  if (token?.isGlued && isMark(before, ':/⁄-_#@^') && before?.isGlued && !isMinus) return true
  if (!after?.isGlued) return false
  if (after.kind === 'word')
    return after.text.length > longestUnit || (next?.isGlued === true && next.kind === 'digits')
  if (!isMark(after, ':/⁄-_@^') || !next?.isGlued || next.kind === 'mark') return false
  const isUnit = isMark(after, '/-') && isWord(next, ...connectedUnits)
  return !isUnit || (tokens[end + 2]?.isGlued === true && tokens[end + 2]?.kind === 'digits')
}

/** Words for fractions, as in two thirds. */
const parts = (
  'half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ' +
  'ninth ninths tenth tenths hundredth hundredths thousandth thousandths'
).split(' ')

/** Reads consecutive spelled numbers. */
const wordsAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  const row = rowAt(tokens, at)
  const [first, ...others] = row
  if (!first) return undefined
  const end = row.at(-1)?.end ?? at
  const point = pointAt(tokens, end)
  const isOne = others.length === 0
  if (point) return { readings: isOne ? withFraction([canonical(first.digits)], point.digits) : [], end: point.end }
  if (isWord(tokens[at - 1], 'point', 'dot')) return { readings: [], end }
  if (!isOne) return { readings: endsNumber(tokens, end) ? readingsOfRow(row) : [], end }
  const ordinal = ordinalAt(tokens, at)
  if (ordinal && ordinal.end > end) return { readings: [], end: ordinal.end }
  const next = isMark(tokens[end], '-') && tokens[end]?.isGlued ? end + 1 : end
  return isWord(tokens[next], ...parts) ? { readings: [], end: next + 1 } : { readings: [canonical(first.digits)], end }
}

/** Reads consecutive numbers as one, as in `five five five`, `two fifty`, and `nineteen oh five`. */
const readingsOfRow = (row: SpelledNumber[]): Reading[] => {
  const joined = row.map(({ digits }) => digits).join('')
  // `Two five` can also be two numbers, as in `two five year olds`.
  if (row.every(({ isDigits }) => isDigits)) return joined.length > 2 ? [canonical(joined)] : []
  const [first, second, third] = row
  if (!first || !second || first.digits.length > 2 || first.value === 0) return []
  if (row.length === 2 && second.digits.length === 2) return [canonical(joined), canonical(first.digits, second.digits)]
  return row.length === 3 && second.digits === '0' && third?.digits.length === 1 ? [canonical(joined)] : []
}

/** Adds the digits after a decimal point. They are undefined if they can mean several numbers. */
const withFraction = (wholes: Reading[], digits: string | undefined): Reading[] =>
  digits === undefined ? [] : wholes.map((whole) => canonical(whole, digits))

/** Reads the digits after `point`. */
const pointAt = (tokens: readonly Token[], at: number) =>
  isWord(tokens[at], 'point', 'dot') ? decimalsAt(tokens, at + 1) : undefined

const scales: Record<string, number> = {
  hundred: 2,
  hundreds: 2,
  k: 3,
  thousand: 3,
  thousands: 3,
  grand: 3,
  lakh: 5,
  lakhs: 5,
  mn: 6,
  mio: 6,
  million: 6,
  millions: 6,
  crore: 7,
  crores: 7,
  bn: 9,
  mrd: 9,
  billion: 9,
  billions: 9,
  tn: 12,
  trillion: 12,
  trillions: 12,
}

/** Scales in other languages, and scales that mean several numbers. Numbers multiplied by them have no reading. */
const unknownScales = (
  'mil mille mila milla tausend duizend tusen tusind miljon miljoen miljoner millionen millón millones milhão milhões milione ' +
  'milioni milliard milliards milliarde milliarden miljard miljarden miliardo miliardi bilhão bilhões billionen dutzend score gross'
).split(' ')

/** Returns whether a scale is a word, as opposed to the k in 12k. */
const isScaleWord = (token: Token | undefined): boolean =>
  isWord(token, 'dozen') || (token?.kind === 'word' && token.text !== 'k' && Object.hasOwn(scales, token.text))

const fractions: Record<string, string> = { half: '5', quarter: '25', '½': '5', '¼': '25', '¾': '75' }
const fractionsInDigits: Record<string, string> = { '1/2': '5', '1/4': '25', '3/4': '75' }

type Fraction = { digits: string | undefined; end: number }

/**
 * Reads a fraction after a number: `2½`, `2 1/2`, `two and a half`. The digits are undefined if it is not a decimal.
 */
const fractionAfter = (tokens: readonly Token[], at: number): Fraction | undefined => {
  const [first, second, third] = [tokens[at], tokens[at + 1], tokens[at + 2]]
  if (first?.kind === 'mark' && /^\p{No}$/u.test(first.text)) return { digits: fractions[first.text], end: at + 1 }
  if (first?.kind === 'digits' && first.isNext && isMark(second, '/⁄') && second?.isGlued && third?.kind === 'digits') {
    return { digits: fractionsInDigits[`${first.text}/${third.text}`], end: at + 3 }
  }
  if (!isWord(first, 'and') || !isWord(third, ...parts)) return undefined
  if (isWord(second, 'a', 'an', 'one')) return { digits: fractions[third?.text ?? ''], end: at + 3 }
  if (isWord(second, 'three') && isWord(third, 'quarters')) return { digits: '75', end: at + 3 }
  return cardinalAt(tokens, at + 1) ? { digits: undefined, end: at + 3 } : undefined
}

/** Letters that are scales next to a currency: $5m. */
const moneyScales: Record<string, number> = { m: 6, mm: 6, b: 9 }

/** Adds a half or quarter. */
const withPart = (tokens: readonly Token[], { readings, end }: Mention): Mention => {
  const fraction = fractionAfter(tokens, end)
  if (!fraction) return { readings, end }
  const last = tokens[end - 1]
  const isUnclear = isScaleWord(last) || last?.kind === 'mark'
  const wholes = isUnclear ? [] : readings.filter((reading) => !reading.includes('.'))
  return { readings: withFraction(wholes, fraction.digits), end: fraction.end }
}

/** Returns the number of zeros that a word after a number adds. Next to a currency, m and b are also scales. */
const placesOf = ({ kind, text }: Token, isAmount: boolean): number | undefined => {
  if (kind !== 'word') return undefined
  return scales[text] ?? (isAmount ? moneyScales[text] : undefined)
}

/** Adds a half or quarter, and multiplies by a word such as `thousand`. */
const scaled = (tokens: readonly Token[], at: number, given: Mention): Mention => {
  const { readings, end } = withPart(tokens, given)
  const token = tokens[end]
  if (token?.kind !== 'word') return { readings, end }
  const isAmount = isMark(tokens[at - 1], currencyMarks)
  const places = placesOf(token, isAmount)
  if (isWord(token, ...unknownScales)) return { readings: [], end: end + 1 }
  if (places === undefined && token.text !== 'dozen') {
    // 5m can be millions or meters.
    const isSuffix = token.isGlued && tokens[at]?.kind !== 'word'
    const isUnclear = isSuffix && (isAmount ? !isWord(token, ...currencyCodes) : isWord(token, 'm', 'b'))
    return { readings: isUnclear ? [] : readings, end }
  }
  const more = isScaleWord(token) ? moreAt(tokens, end + 1) : undefined
  if (more !== undefined) return { readings: [], end: more }
  const times = (reading: Reading) => (places === undefined ? String(Number(reading) * 12) : shift(reading, places))
  return { readings: readings.map(times), end: end + 1 }
}

/** Returns the end of a number that continues another one: `2 million 300 thousand`, `a million and a half`. */
const moreAt = (tokens: readonly Token[], at: number): number | undefined => {
  const fraction = fractionAfter(tokens, at)
  if (fraction) return fraction.end
  const from = isWord(tokens[at], 'and') ? at + 1 : at
  if (tokens[from]?.kind === 'digits') return isMark(tokens[at], '-') ? undefined : numeralAt(tokens, from).end
  return rowAt(tokens, from).at(-1)?.end
}

const amountWords = [
  'dollar',
  'dollars',
  'buck',
  'bucks',
  'euro',
  'euros',
  'pound',
  'pounds',
  'quid',
  'franc',
  'francs',
]
const centWords = ['cent', 'cents', 'penny', 'pence']

/** Reads `a buck`, `a dozen`, and `half a million`. */
const articleAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  if (isWord(tokens[at], 'half') && isWord(tokens[at + 1], 'a', 'an')) {
    const of = scaled(tokens, at, { readings: ['0.5'], end: at + 2 })
    return of.end > at + 2 ? of : undefined
  }
  if (!isWord(tokens[at], 'a', 'an')) return undefined
  if (isWord(tokens[at + 1], 'dozen')) return { readings: ['12'], end: at + 2 }
  return isWord(tokens[at + 1], 'buck', 'dollar', 'grand')
    ? scaled(tokens, at, { readings: ['1'], end: at + 1 })
    : undefined
}

const plainAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  const given = digitsAt(tokens, at) ?? fractionAt(tokens, at) ?? smallFractionAt(tokens, at) ?? wordsAt(tokens, at)
  return given ? scaled(tokens, at, given) : articleAt(tokens, at)
}

/** Reads a half or quarter on its own: ½ hour. */
const smallFractionAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  const token = tokens[at]
  const digits = token?.kind === 'mark' ? fractions[token.text] : undefined
  return digits === undefined ? undefined : { readings: [canonical('0', digits)], end: at + 1 }
}

const isCents = (reading: Reading): boolean => /^\d{1,2}$/.test(reading)

/** Reads an amount with cents, such as `24 dollars and 50 cents`, `five bucks fifty`, and `$24 and 50 cents`. */
const amountAt = (tokens: readonly Token[], at: number, { readings, end }: Mention): Mention | undefined => {
  const hasMark = isMark(tokens[at - 1], currencyMarks)
  const isNamed = isWord(tokens[end], ...amountWords) || isMark(tokens[end], currencyMarks)
  if (!hasMark && !isNamed) return undefined
  const next = isNamed ? end + 1 : end
  const isJoined = isWord(tokens[next], 'and')
  const cents = plainAt(tokens, isJoined ? next + 1 : next)
  if (!cents) return undefined
  const areCents = isWord(tokens[cents.end], ...centWords)
  // Without the word for cents, two digits are needed, so that `five dollars 2 times` is not 5.02.
  const small = cents.readings.filter((reading) => isCents(reading) && (areCents || reading.length === 2))
  if (small.length === 0 || (!areCents && (isJoined || !isNamed))) return undefined
  // Two pounds fifty is an amount, but in 7 pounds 11 ounces, the second number counts something else.
  if (!areCents && !endsPhrase(tokens, cents.end)) return { readings: [], end: cents.end }
  const wholes = readings.filter((reading) => !reading.includes('.'))
  return {
    readings: wholes.flatMap((whole) => small.map((cent) => canonical(whole, cent.padStart(2, '0')))),
    end: areCents ? cents.end + 1 : cents.end,
  }
}

/** Skips a measure with two units, such as `5 feet 11 inches`. Neither number is the whole measure. */
const compoundAt = (tokens: readonly Token[], { end }: Mention): Mention | undefined => {
  const unit = tokens[end]
  if (!canContinue(unit)) return undefined
  const second = plainAt(tokens, afterJoin(tokens, end + 1))
  return second && continues(unit, tokens[second.end]) ? { readings: [], end: second.end + 1 } : undefined
}

const mentionAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  const plain = plainAt(tokens, at)
  if (!plain) return undefined
  const compound = compoundAt(tokens, plain)
  if (compound) return compound
  const amount = amountAt(tokens, at, plain)
  if (amount) return amount
  if (!isWord(tokens[plain.end], ...centWords)) return plain
  const inUnits = plain.readings.filter(isCents).map((reading) => canonical('0', reading.padStart(2, '0')))
  return { readings: [...plain.readings, ...inUnits], end: plain.end + 1 }
}

/** Returns whether a sign belongs to the number, because there is nothing else before it. */
const isNegative = (tokens: readonly Token[], at: number): boolean => {
  const before = tokens[at - 1]
  if (isWord(before, 'minus', 'negative')) return true
  if (isMark(before, currencyMarks)) return isNegative(tokens, at - 1)
  const isAfterCurrency = isMark(tokens[at - 2], currencyMarks)
  return isMark(before, '-') && tokens[at]?.isGlued === true && (before?.isGlued === false || isAfterCurrency)
}

/** Returns whether two numbers with a hyphen are a range, as opposed to a phone number. */
const isRange = (low: string, high: string): boolean => {
  if (Number(low) >= Number(high)) return false
  if (low.length <= 3 && high.length <= 3) return true
  const areYears = [low, high].every((one) => /^(19|20)\d\d$/.test(one))
  return areYears || [low, high].every((one) => one.length > 1 && /[05]0$/.test(one))
}

/** Returns whether a range can start here, as opposed to within a code. */
const startsRange = (tokens: readonly Token[], at: number): boolean => {
  const [token, before] = [tokens[at], tokens[at - 1]]
  if (token?.kind !== 'digits' || isMark(before, '-/:.,')) return false
  return !token.isGlued || before?.kind === 'mark' || isWord(before, ...currencyCodes)
}

type Numeral = ReturnType<typeof numeralAt>

const areRange = (low: Numeral, high: Numeral): boolean => {
  const both = [low, high]
  if (both.every(({ groups, separators }) => separators[0] === ',' && isThousands(groups))) return true
  return both.every(({ separators }) => separators.length === 0) && isRange(low.groups.join(''), high.groups.join(''))
}

/** Reads a range such as 5-10 or 1000-2000, which contains both numbers. */
const rangeAt = (tokens: readonly Token[], at: number): Mention | undefined => {
  if (!startsRange(tokens, at)) return undefined
  const low = numeralAt(tokens, at)
  if (!isMark(tokens[low.end], '-') || tokens[low.end + 1]?.kind !== 'digits') return undefined
  const high = numeralAt(tokens, low.end + 1)
  const [after, next] = [tokens[high.end], tokens[high.end + 1]]
  if (isMark(after, '-/:.,') && after?.isGlued && next?.kind === 'digits') return undefined
  if (!areRange(low, high)) return undefined
  const readings = [low, high].flatMap(({ groups, separators }) => readingsOf(groups, separators))
  return scaled(tokens, at, { readings, end: high.end })
}

/**
 * Returns whether a scale follows later: in `five to ten million` and `two or three hundred`, the first number is not
 * complete.
 */
const isScaledLater = (tokens: readonly Token[], end: number): boolean => {
  if (!isWord(tokens[end], 'to', 'or') || isScaleWord(tokens[end - 1])) return false
  const next = mentionAt(tokens, end + 1)
  return next !== undefined && isScaleWord(tokens[next.end - 1])
}

const signed = (reading: Reading, isMinus: boolean): Reading => (isMinus && reading !== '0' ? `-${reading}` : reading)

/** Returns all readings of the quoted numbers. */
export const numbersIn = (passage: Passage): Set<Reading> => {
  const { tokens } = passage
  const found = new Set<Reading>()
  for (let at = 0; at < tokens.length; ) {
    const mention = rangeAt(tokens, at) ?? mentionAt(tokens, at)
    if (!mention) {
      at++
      continue
    }
    const isSaid = isQuoted(passage, at, mention.end) && !isDenied(tokens, at)
    const isRead = isSaid && !isScaledLater(tokens, mention.end)
    for (const reading of isRead ? mention.readings : []) found.add(signed(reading, isNegative(tokens, at)))
    at = mention.end
  }
  return found
}

/** Returns whether a quote says a number, digit by digit. */
export const saysNumber = (passage: Passage, value: number): boolean => numbersIn(passage).has(String(value))
