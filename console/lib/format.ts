// Formats numbers, times, and durations. Creating the first Intl format takes a browser about ten milliseconds, so the
// formats that most pages use don't need one.

import { once } from './once.ts'

const locale = 'en'

/** Adds thousands separators to the integer part of a number. */
const grouped = (digits: string): string => {
  const [whole = '', ...rest] = digits.split('.')
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...rest].join('.')
}

const short = once(() => new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 }))

export const formatCount = (count: number): string => grouped(String(count))

export const formatShort = (count: number): string => (count < 10_000 ? formatCount(count) : short().format(count))

/** Returns a count with its noun, such as "1 call" or "1,204 calls". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`

const withMinus = (digits: string): string => digits.replace('-', '−')

/** Formats a share between 0 and 1 as a percentage, with enough digits to distinguish small values. */
export const formatPercent = (share: number): string => {
  const percent = share * 100
  const digits = Math.abs(percent) >= 10 || percent === 0 ? 1 : 2
  const rounded = percent.toFixed(digits)
  // A few among very many must not look like none.
  const isLost = Number(rounded) === 0 && percent !== 0
  return `${withMinus(isLost ? String(Number(percent.toPrecision(1))) : rounded.replace(/\.0+$/, ''))}%`
}

/** Formats a percentage without its sign and with all digits, for use as the end of an interval. */
export const formatPoints = (share: number): string => {
  const percent = share * 100
  return withMinus(percent.toFixed(Math.abs(percent) >= 10 || percent === 0 ? 1 : 2))
}

/** Formats a difference in percentage points, such as `+1.2` or `−0.4`. */
export const signedPoints = (value: number): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${formatPoints(Math.abs(value))}`

const precise = once(() => new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 }))

export const formatNumber = (value: number): string => {
  const digits = String(Number(value.toPrecision(4)))
  // JavaScript writes very small and very large numbers in exponential notation.
  return digits.includes('e') ? precise().format(value) : grouped(digits)
}

export const formatBytes = (bytes: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  // After rounding, 999,600 bytes are 1 MB, not 1,000 kB.
  const rounded = Number(bytes.toPrecision(3))
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(rounded) / 3))
  return `${formatNumber(Number((bytes / 1000 ** power).toPrecision(3)))} ${units[power]}`
}

/** Formats a duration, such as `12 s`, `4 m 12 s`, or `1 h 4 m`. */
export const formatDuration = (seconds: number): string => {
  const total = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(total / 3600), Math.floor((total % 3600) / 60), total % 60]
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} m` : `${hours} h`
  if (minutes > 0) return rest > 0 ? `${minutes} m ${rest} s` : `${minutes} m`
  return `${rest} s`
}

/** Formats a position in a recording: `0:07`, `12:40`, `1:02:03`. */
export const formatClock = (seconds: number): string => {
  const total = Math.max(0, Math.floor(seconds))
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor((total % 3600) / 60)]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`
}

export const formatMs = (ms: number): string =>
  Math.round(ms) < 1_000 ? `${Math.round(ms)} ms` : `${formatNumber(Number((ms / 1_000).toPrecision(3)))} s`

const money = (maximumFractionDigits: number) =>
  once(() => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', maximumFractionDigits }))
const dollarsAndCents = money(2)
const partsOfCents = money(4)

export const formatMoney = (dollars: number): string =>
  (dollars !== 0 && Math.abs(dollars) < 1 ? partsOfCents() : dollarsAndCents()).format(dollars)

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** Formats a date as `Nov 21`, in the viewer's time zone like all formats in this file. */
export const formatMonthDay = (date: Date): string => `${months[date.getMonth()]} ${date.getDate()}`

/** Formats a date as `Sat, Nov 21`. */
export const formatWeekday = (date: Date): string => `${weekdays[date.getDay()]}, ${formatMonthDay(date)}`

const two = (value: number): string => String(value).padStart(2, '0')

/** Formats a time as `Nov 21, 10:30`. */
export const formatDayTime = (date: Date): string =>
  `${formatMonthDay(date)}, ${two(date.getHours())}:${two(date.getMinutes())}`

const dayYear = (date: Date): string => `${formatMonthDay(date)}, ${date.getFullYear()}`

/** Formats a time in the viewer's time zone. */
export const formatMoment = (iso: string, now = new Date()): string => {
  const date = new Date(iso)
  return date.getFullYear() === now.getFullYear() ? formatDayTime(date) : dayYear(date)
}

export const formatDay = (iso: string): string => dayYear(new Date(iso))

const monthFormat = once(() => new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }))

/** Formats a month: `2026-11` becomes `November 2026`. */
export const formatMonth = (month: string): string => monthFormat().format(new Date(month))

/** Formats a time relative to now, such as `just now`, `4 minutes ago`, or `in 2 hours`. */
export const formatAgo = (iso: string, now = Date.now()): string => {
  const seconds = (new Date(iso).getTime() - now) / 1_000
  const steps: [unit: string, size: number, smaller: number][] = [
    ['day', 86_400, 3_600],
    ['hour', 3_600, 60],
    ['minute', 60, 1],
  ]
  // The time is first rounded to the smaller unit, because otherwise 59.9 minutes would become 60 minutes instead of 1
  // hour.
  const step = steps.find(([, size, smaller]) => Math.round(Math.abs(seconds) / smaller) * smaller >= size)
  if (!step) return 'just now'
  const [unit, size] = step
  const count = Math.round(seconds / size)
  if (unit === 'day' && Math.abs(count) === 1) return count < 0 ? 'yesterday' : 'tomorrow'
  return count < 0 ? `${plural(-count, unit)} ago` : `in ${plural(count, unit)}`
}

/** Converts an API value to text: `not_affected` becomes `Not affected`. */
export const sentenceCase = (word: string): string => {
  const text = word.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
