// Divides the period of a query into hours whose sums are stored and times that are read from conversations and results.
// Pure.

import { hourMs } from '../../platform/durations.ts'
import { openZone } from '../../platform/time-zone.ts'

export type Stored = {
  /** Null if the sums of all hours are stored; undefined if none are. */
  builtSince: Date | null | undefined
  /** Hours whose sums are outdated. */
  changed: Date[]
}

type Period = { since: Date | undefined; until: Date | undefined; bounds: Date[] | undefined }

export type Range = { since: Date | undefined; until: Date | undefined }

export type Coverage = {
  /** Whole hours, except for some. Undefined if there are none. */
  hours: (Range & { except: Date[] }) | undefined
  /** In order of time, without gaps between neighbors. */
  ranges: Range[]
}

const floor = (ms: number): number => Math.floor(ms / hourMs) * hourMs
const ceil = (ms: number): number => Math.ceil(ms / hourMs) * hourMs

/** More outdated hours than this are read as one range. */
const mostExcepted = 2_000

export const coverageOf = ({ since, until, bounds = [] }: Period, { builtSince, changed }: Stored): Coverage => {
  const all = { hours: undefined, ranges: [{ since, until }] }
  if (builtSince === undefined) return all
  const start = since?.getTime() ?? Number.NEGATIVE_INFINITY
  const from = ceil(Math.max(start, builtSince?.getTime() ?? Number.NEGATIVE_INFINITY))
  const end = until?.getTime() ?? Number.POSITIVE_INFINITY
  const to = floor(end)
  if (from >= to) return all
  // An hour in which a period starts belongs to two.
  const divided = bounds
    .map((bound) => bound.getTime())
    .filter((ms) => ms % hourMs !== 0)
    .map(floor)
  const except = [...new Set([...changed.map((hour) => hour.getTime()), ...divided])]
    .filter((ms) => ms >= from && ms < to)
    .sort((a, b) => a - b)
  if (except.length > mostExcepted) return all
  const ranges: { since: number; until: number }[] = []
  const add = (start: number, stop: number) => {
    if (start >= stop) return
    const last = ranges.at(-1)
    if (last?.until === start) last.until = stop
    else ranges.push({ since: start, until: stop })
  }
  add(start, from)
  for (const hour of except) add(hour, hour + hourMs)
  add(to, end)
  const dateOf = (ms: number) => (Number.isFinite(ms) ? new Date(ms) : undefined)
  return {
    hours: { since: dateOf(from), until: dateOf(to), except: except.map((ms) => new Date(ms)) },
    ranges: ranges.map((range) => ({ since: dateOf(range.since), until: dateOf(range.until) })),
  }
}

const stepMs = 14 * 24 * hourMs
const mostSteps = 2_000

/** Returns whether local hours start when hours in UTC do, throughout a period. */
export const hasWholeHours = (timezone: string, { since, until }: Range): boolean => {
  if (timezone === 'UTC') return true
  if (!since || !until || (until.getTime() - since.getTime()) / stepMs > mostSteps) return false
  const { wallTime } = openZone(timezone)
  const isWhole = (ms: number) => (wallTime(new Date(ms)).getTime() - ms) % hourMs === 0
  for (let ms = since.getTime(); ms < until.getTime(); ms += stepMs) if (!isWhole(ms)) return false
  return isWhole(until.getTime())
}
