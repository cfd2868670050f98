import { isDenied } from './denied.ts'
import { endsPhrase } from './phrases.ts'
import { cardinalAt, rowAt } from './spelled.ts'
import { isMark, isQuoted, isWord, type Passage, type Token } from './tokens.ts'

/** Finds the times of day in text: `4:15 pm`, `four fifteen`, `half past four`, `noon`. Pure. */

/** The hours that the same words can mean, and the minute. */
type ReadTime = { hours: number[]; minute: number; end: number }

type Clock = { hour: number; minute: number; end: number; isCertain: boolean }

const isHour = (hour: number): boolean => hour >= 0 && hour <= 23
const isMinute = (minute: number): boolean => minute >= 0 && minute <= 59

const clock = (hour: number, minute: number, end: number, isCertain = true): Clock | undefined =>
  isHour(hour) && isMinute(minute) ? { hour, minute, end, isCertain } : undefined

const isShort = (token: Token | undefined, most = 2): boolean =>
  token?.kind === 'digits' && token.text.length <= most && token.text.length > 0

/** Words before a time with a period, as in `um 16.15`. Without such a word or `Uhr`, 16.15 is a decimal number. */
const beforePoint = ['um', 'ab', 'bis', 'gegen', 'von', 'alle', 'kl', 'klokken', 'at', 'until', 'from']

const isPointOfTime = (tokens: readonly Token[], at: number): boolean =>
  isWord(tokens[at + 3], 'uhr', 'am', 'pm', 'h') || isWord(tokens[at - 1], ...beforePoint)

/**
 * Returns the end of the seconds, as in 16:15:30, or `from` if there are none. Returns undefined if this is not a time.
 */
const secondsEnd = (tokens: readonly Token[], from: number, isColon: boolean): number | undefined => {
  const [mark, seconds, more] = [tokens[from], tokens[from + 1], tokens[from + 2]]
  const goesOn = isMark(mark, ':.,') && mark?.isGlued && seconds?.kind === 'digits' && seconds.isGlued
  if (!goesOn) return from
  const isSecond = isColon && isMark(mark, ':') && seconds.text.length === 2
  return isSecond && !(isMark(more, ':') && more?.isGlued) ? from + 2 : undefined
}

/** Returns whether an hour begins here: after a space, a bracket, or the T of an ISO 8601 time. */
const startsHour = (tokens: readonly Token[], at: number): boolean => {
  const [hours, before] = [tokens[at], tokens[at - 1]]
  if (!isShort(hours)) return false
  const isAfterDate = isWord(before, 't') && before?.isGlued && tokens[at - 2]?.kind === 'digits'
  return !hours?.isGlued || isAfterDate === true || isMark(before, '(,')
}

/** Reads 4:15, 16.15, 4h15, and 16:15:30. */
const digitalAt = (tokens: readonly Token[], at: number): Clock | undefined => {
  const [hours, mark, minutes] = [tokens[at], tokens[at + 1], tokens[at + 2]]
  if (!startsHour(tokens, at)) return undefined
  const isSeparated = mark?.isGlued && minutes?.isGlued && (isMark(mark, ':.') || isWord(mark, 'h'))
  if (!isSeparated || minutes?.kind !== 'digits' || minutes.text.length !== 2) return undefined
  if (isMark(mark, '.') && !isPointOfTime(tokens, at)) return undefined
  const end = secondsEnd(tokens, at + 3, isMark(mark, ':'))
  return end === undefined ? undefined : clock(Number(hours?.text), Number(minutes.text), end)
}

/** Reads a number of one or two digits, written in digits or words. */
const numberAt = (tokens: readonly Token[], at: number): { value: number; end: number } | undefined => {
  const token = tokens[at]
  if (isShort(token)) {
    const after = tokens[at + 1]
    const isPart =
      isMark(after, '.,:/-') && after?.isGlued && tokens[at + 2]?.kind === 'digits' && tokens[at + 2]?.isGlued
    return isPart || token?.isGlued ? undefined : { value: Number(token?.text), end: at + 1 }
  }
  const cardinal = cardinalAt(tokens, at)
  return cardinal && cardinal.value < 100 ? cardinal : undefined
}

const past = ['past', 'after']
const before = ['to', 'till', 'til', 'before', 'of']

/** Minutes that people say without the word. `Nine to five` is a range. */
const usualMinutes = [5, 10, 20, 25]

/** Words before a range of times, such as `open ten to five`. */
const rangeWords = (
  'from open between opens opened hours daily weekdays weekends ' +
  'monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays'
).split(' ')

type Minutes = { value: number; end: number; isUsual: boolean }

/** Reads the minutes before `past` or `to`: `half`, `a quarter`, `ten minutes`. */
const minutesAt = (tokens: readonly Token[], at: number): Minutes | undefined => {
  const from = isWord(tokens[at], 'a') && isWord(tokens[at + 1], 'quarter') ? at + 1 : at
  if (isWord(tokens[from], 'half')) return { value: 30, end: from + 1, isUsual: true }
  if (isWord(tokens[from], 'quarter')) return { value: 15, end: from + 1, isUsual: true }
  const minutes = numberAt(tokens, from)
  if (!minutes || minutes.value < 1 || !isMinute(minutes.value)) return undefined
  const { value, end } = minutes
  if (isWord(tokens[end], 'minutes', 'minute')) return { value, end: end + 1, isUsual: true }
  return { value, end, isUsual: usualMinutes.includes(value) }
}

/** Reads `half past four`, `quarter to five`, `ten past four`, and the British `half four`. */
const relativeAt = (tokens: readonly Token[], at: number): Clock | undefined => {
  const isHalf = isWord(tokens[at], 'half')
  const minutes = minutesAt(tokens, at)
  if (!minutes) return undefined
  const isPast = isWord(tokens[minutes.end], ...past)
  const isBefore = !isHalf && isWord(tokens[minutes.end], ...before)
  if (!isPast && !isBefore && !isHalf) return undefined
  if (!minutes.isUsual && !isWord(tokens[minutes.end], 'past')) return undefined
  const lead = isWord(tokens[at - 1], 'a') ? at - 2 : at - 1
  if (isBefore && isWord(tokens[lead], ...rangeWords)) return undefined
  const hour = numberAt(tokens, isPast || isBefore ? minutes.end + 1 : minutes.end)
  if (!hour || hour.value < 1 || !endsTime(tokens, hour.end)) return undefined
  if (!isBefore) return clock(hour.value, minutes.value, hour.end)
  return clock(hour.value === 1 ? 12 : hour.value - 1, 60 - minutes.value, hour.end)
}

/** Reads `four fifteen`, `four oh five`, `four o’clock`, `sixteen hundred hours`, and `at four`. */
const spokenAt = (tokens: readonly Token[], at: number): Clock | undefined => {
  const row = rowAt(tokens, at)
  const [first, second, third] = row
  if (!first) return undefined
  const end = row.at(-1)?.end ?? at
  if (row.length === 1 && first.value >= 100 && isWord(tokens[end], 'hours')) {
    return clock(Math.floor(first.value / 100), first.value % 100, end + 1)
  }
  if (row.length === 1) return clock(first.value, 0, end, false)
  if (!endsTime(tokens, end)) return undefined
  const isOh = row.length === 3 && second?.value === 0 && third !== undefined && third.value < 10
  if (isOh) return clock(first.value, third.value, end)
  if (row.length !== 2 || !second || second.value < 10 || second.digits.length !== 2) return undefined
  return clock(first.value, second.value, end)
}

/** Reads 4, 415, and 1615, which are only times next to certain words. */
const digitsAt = (tokens: readonly Token[], at: number): Clock | undefined => {
  const token = tokens[at]
  const isAlone = isShort(token, 4) && (!token?.isGlued || isMark(tokens[at - 1], '('))
  const after = tokens[at + 1]
  const isPart =
    after?.isGlued &&
    (after.kind === 'mark'
      ? tokens[at + 2]?.kind === 'digits' && tokens[at + 2]?.isGlued
      : !isWord(after, 'am', 'pm', 'h'))
  if (!isAlone || isPart || !token) return undefined
  const { text } = token
  if (text.length <= 2) return clock(Number(text), 0, at + 1, false)
  return clock(Number(text.slice(0, -2)), Number(text.slice(-2)), at + 1, false)
}

type Half = 'am' | 'pm' | 'night'

const dayParts: Record<string, Half> = { morning: 'am', afternoon: 'pm', evening: 'pm', tonight: 'pm', night: 'night' }

const dayPartOf = (token: Token | undefined): Half | undefined =>
  token?.kind === 'word' ? dayParts[token.text] : undefined

/** Reads the words after a time: am, pm, `in the afternoon`, `at night`, and before them `o'clock` and `hours`. */
const halfAfter = (tokens: readonly Token[], at: number): { half: Half | undefined; end: number } => {
  let next = at
  while (isWord(tokens[next], "o'clock", 'oclock', 'hours', 'h', 'sharp')) next++
  if (isWord(tokens[next], 'am')) return { half: 'am', end: next + 1 }
  if (isWord(tokens[next], 'pm')) return { half: 'pm', end: next + 1 }
  const word =
    isWord(tokens[next], 'in') && isWord(tokens[next + 1], 'the')
      ? next + 2
      : isWord(tokens[next], 'at', 'this')
        ? next + 1
        : next
  const half = dayPartOf(tokens[word])
  return half ? { half, end: word + 1 } : { half: undefined, end: next }
}

/** The maximum number of consecutive times to read when deciding whether the first one is a time. */
const mostInRow = 20

/** Returns whether the following words show that the preceding numbers are a time, and not a count. */
const endsTime = (tokens: readonly Token[], end: number): boolean => {
  let at = end
  for (let count = 0; count < mostInRow; count++) {
    const { half, end: next } = halfAfter(tokens, at)
    if (half !== undefined || next > at) return true
    if (!endsPhrase(tokens, at)) return false
    // In `in five to ten minutes`, five is also a number of minutes.
    if (!isWord(tokens[at], ...ranges) && !isMark(tokens[at], '-')) return true
    const other = numberAt(tokens, at + 1)
    if (!other) return true
    at = other.end
  }
  return false
}

const ranges = ['to', 'till', 'until', 'and', 'or']

const leads = [
  'between',
  'open',
  'at',
  'around',
  'about',
  'by',
  'from',
  'until',
  'till',
  'before',
  'after',
  'past',
  'for',
]

/** Reads `this afternoon at` before a time. */
const halfBefore = (tokens: readonly Token[], at: number): Half | undefined => {
  let last = at - 1
  while (isWord(tokens[last], ...leads)) last--
  return dayPartOf(tokens[last])
}

const hoursOf = (hour: number, half: Half | undefined): number[] => {
  if (half === undefined || hour > 12) return [hour]
  if (half === 'am') return [hour % 12]
  if (half === 'pm') return [(hour % 12) + 12]
  // `At night` means before midnight or soon after.
  return [hour === 12 ? 0 : hour < 6 ? hour : hour + 12]
}

const clockAt = (tokens: readonly Token[], at: number): Clock | undefined => {
  if (isWord(tokens[at], 'noon', 'midday')) return clock(12, 0, at + 1)
  if (isWord(tokens[at], 'midnight')) return clock(0, 0, at + 1)
  return relativeAt(tokens, at) ?? digitalAt(tokens, at) ?? spokenAt(tokens, at) ?? digitsAt(tokens, at)
}

/** Reads a time. After another time, as in `from nine to five`, it doesn't need other words. */
const timeAt = (tokens: readonly Token[], at: number, isAfterTime: boolean): ReadTime | undefined => {
  const found = clockAt(tokens, at)
  if (!found) return undefined
  const { hour, minute, isCertain } = found
  const after = halfAfter(tokens, found.end)
  const isNamed = after.half !== undefined || after.end > found.end
  const isLed = isAfterTime || isWord(tokens[at - 1], ...leads)
  if (!isCertain && !isNamed && !(isLed && endsTime(tokens, found.end))) return undefined
  return { hours: hoursOf(hour, after.half ?? halfBefore(tokens, at)), minute, end: after.end }
}

const padded = (value: number): string => String(value).padStart(2, '0')

/** Returns every quoted time of day, as HH:MM. */
export const timesIn = (passage: Passage): Set<string> => {
  const { tokens } = passage
  const found = new Set<string>()
  let endOfLast: number | undefined
  for (let at = 0; at < tokens.length; ) {
    const isAfterTime = endOfLast === at - 1 && (isWord(tokens[at - 1], ...ranges) || isMark(tokens[at - 1], '-'))
    const time = timeAt(tokens, at, isAfterTime)
    if (time) endOfLast = time.end
    if (time && isQuoted(passage, at, time.end) && !isDenied(tokens, at)) {
      for (const hour of time.hours) found.add(`${padded(hour)}:${padded(time.minute)}`)
    }
    at = time ? time.end : skipNumber(tokens, at)
  }
  return found
}

/** Skips an entire number that is not a time, so that no part of it is read as one. */
const skipNumber = (tokens: readonly Token[], at: number): number => rowAt(tokens, at).at(-1)?.end ?? at + 1
