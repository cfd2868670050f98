import { isDenied } from './denied.ts'
import { endsPhrase } from './phrases.ts'
import { cardinalAt, ordinalAt, rowAt } from './spelled.ts'
import { timesIn } from './times.ts'
import { isMark, isQuoted, isWord, type Passage, type Token } from './tokens.ts'

/** Finds the dates in text: `May 3rd`, `the third of May`, `15.4.`, `4/15/2026`, `2026-04-15`. Pure. */

/** The languages for which all month names are known. */
const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl']

const monthsOf = (language: string, length: 'long' | 'short'): [string, number][] => {
  const format = new Intl.DateTimeFormat(language, { month: length, timeZone: 'UTC' })
  return Array.from({ length: 12 }, (_, at) => [
    format
      .format(Date.UTC(2026, at, 1))
      .toLowerCase()
      .replace(/\.$/, ''),
    at + 1,
  ])
}

const months = new Map([
  ...languages.flatMap((language) => monthsOf(language, 'long')),
  ...monthsOf('en', 'short'),
  ['sept', 9] as const,
])

type Day = { day: number; end: number }
type ReadDate = { years: string[]; month: number; day: number; end: number }

const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isDay = (month: number, day: number): boolean => day >= 1 && day <= (daysOfMonth[month - 1] ?? 0)

const isShort = (token: Token | undefined): boolean => token?.kind === 'digits' && token.text.length <= 2

const ends = ['st', 'nd', 'rd', 'th', 'er', 'º']

/** Reads a day in digits or words: `3`, `3rd`, `3.`, `third`, `twenty-three`. */
const dayAt = (tokens: readonly Token[], at: number): Day | undefined => {
  const token = tokens[at]
  if (isShort(token)) {
    const after = tokens[at + 1]
    const isOrdinal = after?.isGlued && (isWord(after, ...ends) || isMark(after, '.º'))
    return { day: Number(token?.text), end: isOrdinal ? at + 2 : at + 1 }
  }
  const ordinal = ordinalAt(tokens, at)
  if (ordinal) return { day: ordinal.value, end: ordinal.end }
  const cardinal = cardinalAt(tokens, at)
  return cardinal && cardinal.value <= 31 ? { day: cardinal.value, end: cardinal.end } : undefined
}

const monthAt = (tokens: readonly Token[], at: number): number | undefined => {
  const token = tokens[at]
  return token?.kind === 'word' ? months.get(token.text) : undefined
}

/** Returns the years that digits can mean. Two digits mean a year in this century or the last one. */
const yearsOf = (digits: string): string[] =>
  digits.length === 4 ? [digits] : digits.length === 2 ? [`20${digits}`, `19${digits}`] : []

/** Reads a year after a date: `2026`, `'26`, `twenty twenty-six`, `nineteen oh five`, `two thousand and six`. */
const yearAt = (tokens: readonly Token[], at: number): string[] => {
  const from = isMark(tokens[at], ',') || isWord(tokens[at], 'of', 'in', 'de', 'del') ? at + 1 : at
  const token = tokens[from]
  if (token?.kind === 'digits') return token.text.length === 4 ? [token.text] : []
  if (isMark(token, "'") && tokens[from + 1]?.kind === 'digits') return yearsOf(tokens[from + 1]?.text ?? '')
  const row = rowAt(tokens, from)
  const digits = row.map(({ digits: part }) => part).join('')
  const isYear = row.length > 0 && /^(19|20)\d\d$/.test(digits)
  return isYear ? [digits] : []
}

/** Skips `.` and `,` between the components of a date. */
const afterMark = (tokens: readonly Token[], at: number): number => (isMark(tokens[at], '.,') ? at + 1 : at)

/** Months that are also other words, as in `you may first restart`. */
const ambiguousMonths = ['may', 'march', 'mars']

/** Words before a month. `That would be May third` is also a date. */
const leads = (
  'in on of by until till since from before after this next last for to early mid late is was be are were said paid meant ' +
  'mean and or the every around about between through monday tuesday wednesday thursday friday saturday sunday'
).split(' ')

const isLed = (tokens: readonly Token[], at: number): boolean => {
  const before = tokens[at - 1]
  return before === undefined || before.kind === 'mark' || isWord(before, ...leads)
}

const counted = (
  'people persons customers callers calls times percent dollars euros pounds minutes hours days weeks months years units items ' +
  'users seats guests orders'
).split(' ')

/** Reads `May 3rd, 2026` and `May the third`. `May twenty twenty-six` only has a year. */
const monthFirstAt = (tokens: readonly Token[], at: number): ReadDate | undefined => {
  const month = monthAt(tokens, at)
  if (month === undefined) return undefined
  const next = afterMark(tokens, at + 1)
  const isYear = tokens[next]?.kind === 'word' && yearAt(tokens, next).length > 0
  if (isYear) return undefined
  const day = dayAt(tokens, isWord(tokens[next], 'the') ? next + 1 : next)
  // The 20 in `in May 20 people called` is a count.
  if (!day || isWord(tokens[day.end], ...counted)) return undefined
  const years = yearAt(tokens, day.end)
  const isDate = isLed(tokens, at) || years.length > 0 || (isShort(tokens[next]) && endsPhrase(tokens, day.end))
  if (isWord(tokens[at], ...ambiguousMonths) && !isDate) return undefined
  return { years, month, day: day.day, end: day.end }
}

/** Reads `3 May 2026`, `the third of May`, and `3. Mai`. */
const dayFirstAt = (tokens: readonly Token[], at: number): ReadDate | undefined => {
  const day = dayAt(tokens, at)
  if (!day || isWord(tokens[at - 1], 'point')) return undefined
  const isJoined = isWord(tokens[day.end], 'of', 'de', 'di')
  const next = isJoined ? day.end + 1 : day.end
  const month = monthAt(tokens, next)
  if (month === undefined) return undefined
  const years = yearAt(tokens, afterMark(tokens, next + 1))
  // In `the third may be late` and `the 3rd may be late`, `may` is not a month.
  const isDate = isJoined || years.length > 0 || (isShort(tokens[at]) && endsMonth(tokens, next + 1))
  if (isWord(tokens[next], ...ambiguousMonths) && !isDate) return undefined
  return { years, month, day: day.day, end: next + 1 }
}

/** Returns whether no verb or name can follow: `3 May at 5`, unlike `3 may not come`. */
const endsMonth = (tokens: readonly Token[], end: number): boolean => {
  const next = tokens[end]
  return (
    next === undefined || next.kind === 'mark' || isWord(next, 'at', 'in', 'on', 'from', 'to', 'until', 'and', 'or')
  )
}

/** Reads groups of digits with one separator between them, which may have spaces around it: `15. 4. 2026`. */
const groupsAt = (tokens: readonly Token[], at: number, mark: string): { groups: string[]; isEnded: boolean } => {
  const groups: string[] = []
  let next = at
  while (tokens[next]?.kind === 'digits' && groups.length < 4) {
    groups.push(tokens[next]?.text ?? '')
    if (!isMark(tokens[next + 1], mark) || !tokens[next + 1]?.isGlued) return { groups, isEnded: false }
    next += 2
    if (mark !== '.' && !tokens[next]?.isGlued) break
  }
  return { groups, isEnded: true }
}

const isGluedToCode = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.isGlued === true && !isMark(tokens[at - 1], '(')

/** Reads 15.4. and 15.4.2026, with the day first. */
const dottedAt = (tokens: readonly Token[], at: number): ReadDate[] => {
  if (isGluedToCode(tokens, at)) return []
  const { groups, isEnded } = groupsAt(tokens, at, '.')
  const [day = '', month = '', year = ''] = groups
  if (groups.length < 2 || groups.length > 3 || day.length > 2 || month.length > 2) return []
  // Without a year or a dot at the end, this is a decimal number.
  const isYear = year.length === 4 || year.length === 2
  if (groups.length === 2 ? !isEnded : !isYear) return []
  return [{ years: yearsOf(year), month: Number(month), day: Number(day), end: at + groups.length * 2 - 1 }]
}

/** Returns whether two numbers with a slash are not a date, as in `2/3 of them`, `3/4 cup`, and `24/7`. */
const isFraction = (tokens: readonly Token[], at: number): boolean =>
  (tokens[at]?.text === '24' && tokens[at + 2]?.text === '7') ||
  isWord(tokens[at + 3], 'of', 'cup', 'cups', 'inch', 'inches', 'mile', 'miles', 'hour', 'hours', 'full')

/** Reads 2026-04-15, and 4/15/2026 and 15-4-2026 in both orders. */
const separatedAt = (tokens: readonly Token[], at: number, mark: string): ReadDate[] => {
  if (isGluedToCode(tokens, at)) return []
  const { groups, isEnded } = groupsAt(tokens, at, mark)
  const [first = '', second = '', third = ''] = groups
  if (isEnded || groups.length < 2 || groups.length > 3 || second.length > 2) return []
  if (groups.length === 2 && isFraction(tokens, at)) return []
  const end = at + groups.length * 2 - 1
  if (first.length === 4 && groups.length === 3 && third.length <= 2) {
    return [{ years: [first], month: Number(second), day: Number(third), end }]
  }
  const isYear = third.length === 4 || third.length === 2
  // Two numbers with a hyphen form a range.
  if (first.length > 2 || (groups.length === 3 ? !isYear : mark === '-')) return []
  const years = yearsOf(third)
  return [
    { years, month: Number(first), day: Number(second), end },
    { years, month: Number(second), day: Number(first), end },
  ]
}

const datesAt = (tokens: readonly Token[], at: number): ReadDate[] => {
  const named = monthFirstAt(tokens, at) ?? dayFirstAt(tokens, at)
  if (named) return [named]
  return [...dottedAt(tokens, at), ...separatedAt(tokens, at, '/'), ...separatedAt(tokens, at, '-')]
}

const padded = (value: number): string => String(value).padStart(2, '0')

/** Returns every quoted date as MM-DD and, if the quote contains the year, also as YYYY-MM-DD. */
const datesIn = (passage: Passage): Set<string> => {
  const found = new Set<string>()
  for (let at = 0; at < passage.tokens.length; ) {
    const dates = datesAt(passage.tokens, at)
    const end = Math.max(at + 1, ...dates.map((date) => date.end))
    for (const { years, month, day } of dates) {
      if (!isDay(month, day) || !isQuoted(passage, at, end) || isDenied(passage.tokens, at)) continue
      const date = `${padded(month)}-${padded(day)}`
      found.add(date)
      for (const year of years) found.add(`${year}-${date}`)
    }
    // A component of a date is not another date: the twenty-first of May is not the first.
    at = end
  }
  return found
}

/** The formats of dates: with or without a year, a time of day, or both. */
const format = /^(?:((?:\d{4}-)?\d\d-\d\d)(?:T(\d\d:\d\d))?|(\d\d:\d\d))$/

const isDate = (date: string): boolean => {
  const [, year, month, day] = /^(?:(\d{4})-)?(\d\d)-(\d\d)$/.exec(date) ?? []
  const isLeap = year === undefined || new Date(Date.UTC(Number(year), 1, 29)).getUTCMonth() === 1
  return isDay(Number(month), Number(day)) && (isLeap || month !== '02' || day !== '29')
}

const isTime = (time: string): boolean => Number(time.slice(0, 2)) < 24 && Number(time.slice(3)) < 60

export const isDateValue = (value: string): boolean => {
  const [, date, time, only] = format.exec(value) ?? []
  const clock = time ?? only
  if (date === undefined && clock === undefined) return false
  return (date === undefined || isDate(date)) && (clock === undefined || isTime(clock))
}

/** Returns the date and time of a value, if it has them. Different quotes can contain them. */
export const datePartsOf = (value: string): string[] => value.split('T')

/**
 * Returns whether a quote says a date, a time, or both. A year that the quote doesn't mention is not accepted either.
 */
export const saysDate = (passage: Passage, value: string): boolean => {
  const [, date, time, only] = format.exec(value) ?? []
  const clock = time ?? only
  if (date === undefined && clock === undefined) return false
  return (date === undefined || datesIn(passage).has(date)) && (clock === undefined || timesIn(passage).has(clock))
}
