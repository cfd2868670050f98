// Finds phone, card, and social security numbers in text. Each step reads a limited amount of text, so the time is
// linear. No decision depends on text that a marker could replace, so text that is already redacted does not change.

const digit = '[0-9\\u0660-\\u0669\\u06f0-\\u06f9\\uff10-\\uff19]'
const dash = '\\-\\u2010-\\u2015'
const space = ' \\t\\u00a0\\u2009\\u202f'

/** Consecutive digits, and the separator before them if they can continue a number. */
type Group = { start: number; end: number; gap: string; digits: string; afterId: boolean }

/** Matches letters that a space separates from numbers. Other scripts may write both without a space. */
const letter = '[\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}_]'
const endsInLetter = new RegExp(`${letter}$`, 'u')
const startsWithLetter = new RegExp(`^${letter}`, 'u')
const extension = new RegExp(`^(?:x|ext)\\.? ?${digit}`, 'i')
const endsAsId = new RegExp(`${letter}[-_]$`, 'u')

/** Matches separators between the groups of one number: `-`, `.`, `/`, one or two spaces, and brackets. */
const gapForm = new RegExp(`^(?:\\.|\\)?[${space}]{0,2}\\(?|\\)?[${space}]?[${dash}/][${space}]?\\(?)$`)
const longestGap = 4
const cardGap = new RegExp(`^(?:[${dash}]|[${space}]{1,2})$`)
const ssnGap = new RegExp(`^[${dash}${space}]$`)

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const year = '(?:19|20)\\d\\d'
const hex = (length: number) => `[\\da-f]{${length}}`

/** Matches groups of digits that are not personal data: IDs, IP addresses, dates, amounts, and decimals. */
const harmless = new RegExp(
  [
    `(?<![\\da-z-])${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}(?![\\da-z-])`,
    `(?<![\\d.+])${octet}(?:\\.${octet}){3}(?!\\.?\\d)`,
    `(?<!\\d[-./]?)${year}([-./])(?:0?[1-9]|1[0-2])\\1(?:0?[1-9]|[12]\\d|3[01])(?![-./]?\\d)`,
    `(?<!\\+|\\d[-./]?)(?:0?[1-9]|[12]\\d|3[01])([-./])(?:0?[1-9]|[12]\\d|3[01])\\2(?:${year}|\\d\\d)(?![-./]?\\d)`,
    `(?<!\\+|\\d ?)(?:0?[1-9]|[12]\\d|3[01]) (?:0?[1-9]|1[0-2]) ${year}(?! ?\\d)`,
    `(?<!\\d[-/]?)${year} ?[-–/] ?${year}(?![-/]?\\d)`,
    `(?<![\\d.,+(] ?)[1-9]\\d?([ .’'\\u00a0\\u202f])\\d{3}\\3\\d{3}(?!\\3?\\d)`,
    // This is a decimal, as opposed to the end of a phone number such as (555) 010.0199.
    `(?<![\\d.+])(?!(?<=\\d{3} |\\) ?)\\d{3}\\.\\d{4}(?!\\d))(?:0|[1-9]\\d{0,11})\\.\\d+(?!\\.?\\d)`,
  ].join('|'),
  'gi',
)

const groupForm = new RegExp(`${digit}+`, 'g')
const numeral = (char: string) => char.charCodeAt(0) & 0xf

/** Returns a function that checks whether groups overlap a harmless match. The groups must be checked in text order. */
const openHarmless = (text: string) => {
  const spans = [...text.matchAll(harmless)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }))
  let next = 0
  return (start: number, end: number): boolean => {
    while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++
    return (spans[next]?.start ?? end) < end
  }
}

/** Returns the separator between two groups that may belong to one number. */
const gapOf = (text: string, from: number, to: number): string => (to - from <= longestGap ? text.slice(from, to) : '')

const touchesLetter = (text: string, start: number, end: number): boolean => {
  const rest = text.slice(end, end + 6)
  const endsAfterLetter = startsWithLetter.test(rest) && !extension.test(rest)
  return endsAfterLetter || endsInLetter.test(text.slice(Math.max(0, start - 1), start))
}

/** Finds groups that may belong together. Excludes groups that are next to a letter or in harmless text. */
const findRuns = (text: string): Group[][] => {
  const isHarmless = openHarmless(text)
  const runs: Group[][] = []
  let previous: { end: number; kept: boolean; run: Group[] } | undefined
  for (const { index: start, 0: found } of text.matchAll(groupForm)) {
    const end = start + found.length
    const isSafe = isHarmless(start, end)
    const gap = previous ? gapOf(text, previous.end, start) : ''
    const joins = gap !== '' && gapForm.test(gap)
    if (isSafe || touchesLetter(text, start, end)) {
      previous = { end, kept: isSafe, run: [] }
      continue
    }
    // An ID continues after a letter and a dash: ORD-2024-0012345, 7f3-4512-8891.
    const afterAttached = previous?.kept === false && gap === '-'
    const afterId = afterAttached || endsAsId.test(text.slice(Math.max(0, start - 2), start))
    const group = { start, end, gap, digits: found, afterId }
    const run: Group[] = joins && previous?.kept ? previous.run : []
    if (run.length === 0) runs.push(run)
    run.push(group)
    previous = { end, kept: true, run }
  }
  return runs
}

const passesLuhn = (digits: string): boolean => {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const value = numeral(digits[digits.length - 1 - i] as string)
    const weighed = i % 2 === 1 ? value * 2 : value
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return sum % 10 === 0
}

/**
 * Returns whether the digits are a time since 1970 in ms, µs, or ns, up to 2033. A tenth of such times would look like
 * card numbers, but no card number starts with 1.
 */
const isInstant = (digits: string): boolean => numeral(digits) === 1 && [13, 16, 19].includes(digits.length)

export const isCard = (digits: string): boolean =>
  digits.length >= 13 && digits.length <= 19 && numeral(digits) !== 0 && !isInstant(digits) && passesLuhn(digits)

/** A kind of number. `fits` determines whether groups form such a number. */
type Kind = { marker: string; maxDigits: number; fits: (groups: Group[], digits: string, before: string) => boolean }

const gapsOf = (groups: Group[]) => groups.slice(1).map(({ gap }) => gap)

const card: Kind = {
  marker: '[card]',
  maxDigits: 19,
  fits: (groups, digits) => isCard(digits) && gapsOf(groups).every((gap) => cardGap.test(gap)),
}

const ssn: Kind = {
  marker: '[ssn]',
  maxDigits: 9,
  fits: (groups, digits) => {
    if (groups.length !== 3 || digits.length !== 9) return false
    const [first = '', second] = gapsOf(groups)
    const lengths = groups.map((group) => group.digits.length).join()
    return lengths === '3,2,4' && first === second && ssnGap.test(first) && !/^000|^...00|0000$/.test(digits)
  },
}

/** Recognizes an international number by its plus, and any other by its grouping. Digits without either are an ID. */
const phone: Kind = {
  marker: '[phone]',
  maxDigits: 15,
  fits: (groups, digits, before) => {
    if (digits.length < 7) return false
    if (/[+＋]\(?$/.test(before)) return true
    const [first] = groups
    if (groups.length < 2 || !first || first.afterId) return false
    const gaps = gapsOf(groups)
    const hasTrunk = numeral(digits) === 0 || before.endsWith('(')
    const dotted = gaps.includes('.')
    const slashed = gaps.findLastIndex((gap) => gap.includes('/'))
    return (!dotted || hasTrunk || groups.length > 2) && (slashed === -1 || (slashed === 0 && hasTrunk))
  },
}

type NumberMatch = { start: number; end: number; marker: string }

/** Finds the longest number of a kind at the first possible position, and continues after it. */
const findKind = (text: string, run: Group[], kind: Kind, found: NumberMatch[]): Group[][] => {
  const left: Group[][] = [[]]
  for (let at = 0; at < run.length; ) {
    const first = run[at] as Group // `at` is an index in the run.
    const before = text.slice(Math.max(0, first.start - 2), first.start)
    let digits = ''
    let length = 0
    while (at + length < run.length) {
      const next = run[at + length] as Group // This is also an index in the run.
      if (digits.length + next.digits.length > kind.maxDigits) break
      digits += next.digits
      length++
    }
    while (length > 0 && !kind.fits(run.slice(at, at + length), digits, before)) {
      length--
      digits = digits.slice(0, -(run[at + length] as Group).digits.length) // This is also an index in the run.
    }
    if (length === 0) {
      left.at(-1)?.push(first)
      at++
      continue
    }
    const lead = /[+＋]?\(?$/.exec(before)?.[0].length ?? 0
    const end = (run[at + length - 1] as Group).end // This is also an index in the run.
    found.push({ start: first.start - lead, end, marker: kind.marker })
    left.push([])
    at += length
  }
  return left.filter((groups) => groups.length > 0)
}

const kinds = [card, ssn, phone]

export const redactNumbers = (text: string): string => {
  const found: NumberMatch[] = []
  let runs = findRuns(text)
  for (const kind of kinds) runs = runs.flatMap((run) => findKind(text, run, kind, found))
  if (found.length === 0) return text
  found.sort((a, b) => a.start - b.start)
  const parts: string[] = []
  let done = 0
  for (const { start, end, marker } of found) {
    // The bracket before a number may also be the end of the previous number, as in "555 0100(555) 0101".
    parts.push(text.slice(done, Math.max(start, done)), marker)
    done = end
  }
  return parts.join('') + text.slice(done)
}
