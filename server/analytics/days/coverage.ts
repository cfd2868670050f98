// Divides the period of a query into hours with stored sums and times that are read from conversations and results.
// Pure.

import { dayMs, hourMs } from '../../platform/durations.ts'
import { openZone } from '../../platform/time-zone.ts'

/** The days with stored sums, and the hours with outdated sums. */
export type Stored = {
  /** Sorted. */
  days: Date[]
  /** Hours with outdated sums. */
  changed: Date[]
}

export type Range = { since: Date | undefined; until: Date | undefined }

/** Bounds are the starts of the intervals of a query, and the end of the last one. */
type Period = Range & { bounds: Date[] | undefined }

export type Coverage = {
  /**
   * The interval of each hour, by day, or -1 for hours that are read from conversations. Without intervals, the
   * interval is 0.
   */
  days: Map<number, Int16Array>
  /** Sorted by time, without gaps between neighbors. */
  ranges: Range[]
}

/** If there are more ranges than this, or if the ranges are longer than the hours, everything is read as one range. */
const mostRanges = 500

/** Returns the last interval that starts at or before a time. */
const intervalAt = (bounds: number[], ms: number): number => {
  let [low, high] = [0, bounds.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((bounds[middle] ?? 0) <= ms) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Returns whether there are many ranges, or whether they are longer than all hours together. */
const isMostly = (ranges: { since: number; until: number }[], hours: number): boolean => {
  const lengths = ranges.map(({ since, until }) => until - since).filter(Number.isFinite)
  const all = lengths.reduce((sum, length) => sum + length, 0)
  return ranges.length > mostRanges || all > Math.max(hours * hourMs, dayMs)
}

/** Collects the times between hours that are read from stored sums. */
const openRanges = (start: number, end: number) => {
  const ranges: { since: number; until: number }[] = []
  let read = start
  const readUntil = (ms: number) => {
    if (read < ms) ranges.push({ since: read, until: ms })
  }
  return {
    skip: (hour: number) => {
      readUntil(hour)
      read = hour + hourMs
    },
    close: () => {
      readUntil(end)
      return ranges
    },
  }
}

/**
 * Returns the hours that are read from stored sums. With `wholeDays`, only includes the hours of days that are stored
 * completely and belong to one interval.
 */
export const coverageOf = (
  { since, until, bounds }: Period,
  { days: storedDays, changed }: Stored,
  { wholeDays = false } = {},
): Coverage => {
  const start = since?.getTime() ?? Number.NEGATIVE_INFINITY
  const end = until?.getTime() ?? Number.POSITIVE_INFINITY
  const starts = bounds?.map((bound) => bound.getTime())
  // An hour in which an interval starts belongs to two intervals.
  const divided = (starts ?? []).filter((ms) => ms % hourMs !== 0).map((ms) => Math.floor(ms / hourMs) * hourMs)
  const unusable = new Set([...changed.map((hour) => hour.getTime()), ...divided])
  const intervalOf = (ms: number) => (starts ? intervalAt(starts, ms) : 0)
  const isWhole = (day: number, hours: number[]) =>
    hours.length === 24 && intervalOf(day) === intervalOf(day + 23 * hourMs)
  const isUsable = (hour: number) => hour >= start && hour + hourMs <= end && !unusable.has(hour)

  const days = new Map<number, Int16Array>()
  const { skip, close } = openRanges(start, end)
  let hours = 0
  for (const day of storedDays.map((date) => date.getTime())) {
    const usable = Array.from({ length: 24 }, (_, at) => day + at * hourMs).filter(isUsable)
    if (usable.length === 0 || (wholeDays && !isWhole(day, usable))) continue
    const intervals = new Int16Array(24).fill(-1)
    for (const hour of usable) {
      skip(hour)
      intervals[(hour - day) / hourMs] = intervalOf(hour)
    }
    days.set(day, intervals)
    hours += usable.length
  }

  const ranges = close()
  if (hours === 0 || isMostly(ranges, hours)) return { days: new Map(), ranges: [{ since, until }] }
  const dateOf = (ms: number) => (Number.isFinite(ms) ? new Date(ms) : undefined)
  return { days, ranges: ranges.map((range) => ({ since: dateOf(range.since), until: dateOf(range.until) })) }
}

const stepMs = 14 * dayMs
const mostSteps = 2_000

/** Returns whether local hours start at the same time as UTC hours, throughout a period. */
export const hasWholeHours = (timezone: string, { since, until }: Range): boolean => {
  if (timezone === 'UTC') return true
  if (!since || !until || (until.getTime() - since.getTime()) / stepMs > mostSteps) return false
  const { wallTime } = openZone(timezone)
  const isWhole = (ms: number) => (wallTime(new Date(ms)).getTime() - ms) % hourMs === 0
  for (let ms = since.getTime(); ms < until.getTime(); ms += stepMs) if (!isWhole(ms)) return false
  return isWhole(until.getTime())
}
