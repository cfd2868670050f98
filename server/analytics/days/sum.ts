// Adds up packed days and sums of times that are read from conversations, by group and interval. Pure.

import { hourMs } from '../../platform/durations.ts'
import { openZone } from '../../platform/time-zone.ts'
import { cumulative, percentilePositions } from '../../statistics/percentiles.ts'
import { noSums } from '../figures.ts'
import type { Cell, GroupSums, Key, NumberedGroup, PackedDay, Sums } from '../queries.ts'
import type { Coverage } from './coverage.ts'
import { readHours, readSteps } from './packed.ts'

export type ToSum = {
  groups: NumberedGroup[]
  packed: PackedDay[]
  cells: Cell[]
  days: Coverage['days']
  groupBy: string[]
  timezone: string
  /** The number of intervals, or undefined without intervals. */
  intervals: number | undefined
  quantile: number | undefined
  /** The groups to show, or the number of the largest groups to show. */
  show: { keys: Key[] } | { most: number }
}

/** Returns a function that returns the local hour or weekday of an hour as text. */
const timeKeys = (name: string | undefined, timezone: string) => {
  if (name !== 'hourOfDay' && name !== 'weekday') return undefined
  const { wallTime } = openZone(timezone)
  const offsets = new Map<number, number[]>()
  /** Returns a day's offsets from UTC, which change only on a few days. */
  const offsetsOf = (day: number): number[] => {
    const known = offsets.get(day)
    if (known) return known
    const offsetAt = (at: number) => wallTime(new Date(day + at * hourMs)).getTime() - day - at * hourMs
    const [first, last] = [offsetAt(0), offsetAt(23)]
    const found = Array.from({ length: 24 }, (_, at) => (first === last ? first : offsetAt(at)))
    offsets.set(day, found)
    return found
  }
  return (day: number, hour: number): string => {
    const local = new Date(day + hour * hourMs + (offsetsOf(day)[hour] ?? 0))
    return String(name === 'hourOfDay' ? local.getUTCHours() : local.getUTCDay() || 7)
  }
}

/** Numbers the keys of groups in order of occurrence. */
const openKeys = ({ groups, groupBy, timezone }: Pick<ToSum, 'groups' | 'groupBy' | 'timezone'>) => {
  const indexes = new Map<string, number>()
  const keys: Key[] = []
  const indexOf = (k1: string | null, k2: string | null): number => {
    const text = JSON.stringify([k1, k2])
    const known = indexes.get(text)
    if (known !== undefined) return known
    indexes.set(text, keys.length)
    keys.push([k1, k2].slice(0, groupBy.length))
    return keys.length - 1
  }
  const [time1, time2] = [timeKeys(groupBy[0], timezone), timeKeys(groupBy[1], timezone)]
  const byNumber = new Map(groups.map((group) => [group.number, group]))
  if (!time1 && !time2) {
    const ofNumbers = new Map(groups.map(({ number, k1, k2 }) => [number, indexOf(k1, k2)]))
    return { keys, indexOf, indexOfHour: (group: number) => ofNumbers.get(group) }
  }
  const indexOfHour = (group: number, day: number, hour: number): number | undefined => {
    const found = byNumber.get(group)
    return found && indexOf(time1 ? time1(day, hour) : found.k1, time2 ? time2(day, hour) : found.k2)
  }
  return { keys, indexOf, indexOfHour }
}

/** Returns the step of a percentile, with its interval. `counts` has the count of each step. */
const percentileOf = (steps: number[], counts: Float64Array, quantile: number) => {
  const { at, low, high } = percentilePositions(cumulative(counts), quantile)
  const stepAt = (position: number | null): number | null => (position === null ? null : (steps[position] ?? null))
  return { step: stepAt(at), lowStep: stepAt(low), highStep: stepAt(high) }
}

type More = Pick<Cell, 'count' | 'hits' | 'sum' | 'squares'>

/** Returns functions that read all sums by interval and by the index of their key. */
const openSources = (given: Omit<ToSum, 'intervals' | 'quantile' | 'show'>) => {
  const { packed, cells, days } = given
  const { keys, indexOf, indexOfHour } = openKeys(given)
  const stored = packed.flatMap((row) => {
    const day = row.day.getTime()
    const intervals = days.get(day)
    if (!intervals) return []
    const indexAt = (group: number, hour: number) =>
      (intervals[hour] ?? -1) < 0 ? undefined : indexOfHour(group, day, hour)
    return [{ ...row, intervals, indexAt }]
  })
  const others = cells.map((cell) => ({ ...cell, index: indexOf(cell.k1, cell.k2) }))
  return {
    keys,
    indexOf,
    eachSum: (take: (index: number, interval: number, more: More) => void): void => {
      for (const { hours, intervals, indexAt } of stored) {
        readHours(hours, (more) => {
          // All hours of a whole day belong to one interval.
          const hour = Math.max(0, more.hour)
          const index = indexAt(more.group, hour)
          if (index !== undefined) take(index, intervals[hour] ?? 0, more)
        })
      }
      for (const cell of others) take(cell.index, cell.interval, cell)
    },
    /** Calls back for the rounded values of an index and interval, unless `choose` returns undefined. */
    eachStep: (
      choose: (index: number, interval: number) => ((step: number, count: number) => void) | undefined,
    ): void => {
      for (const { hourSteps, daySteps, intervals, indexAt } of stored) {
        // The hour of a whole day is -1. All of its hours belong to one interval.
        const steps = daySteps ?? hourSteps ?? noBytes
        readSteps(steps, (group, hour) => {
          const index = indexAt(group, Math.max(0, hour))
          return index === undefined ? undefined : choose(index, intervals[Math.max(0, hour)] ?? 0)
        })
      }
      for (const { index, interval, step, count } of others) if (step !== null) choose(index, interval)?.(step, count)
    },
  }
}

const noBytes = Buffer.alloc(0)

type Sources = ReturnType<typeof openSources>

/** Compares keys as `sumRows` does, so that groups of the same size have the same order. */
const compareKeys = (a: Key = [], b: Key = []): number => {
  for (const at of [0, 1]) {
    const [ofA, ofB] = [a[at] ?? '', b[at] ?? '']
    if (ofA !== ofB) return ofA < ofB ? -1 : 1
  }
  return 0
}

/** Returns the indexes of the keys to show, and how many keys have values. */
const chooseKeys = ({ keys, indexOf, eachSum }: Sources, show: ToSum['show']) => {
  const totals: number[] = []
  eachSum((index, _, { count }) => {
    totals[index] = (totals[index] ?? 0) + count
  })
  const occurring = keys.flatMap((_, index) => ((totals[index] ?? 0) > 0 ? [index] : []))
  if ('keys' in show) return { shown: show.keys.map(([k1 = '', k2 = '']) => indexOf(k1, k2)), groups: occurring.length }
  const largest = occurring.sort((a, b) => (totals[b] ?? 0) - (totals[a] ?? 0) || compareKeys(keys[a], keys[b]))
  return { shown: largest.slice(0, show.most), groups: occurring.length }
}

/**
 * Returns the position at which the sums of a key and interval are stored. Keys that are not shown share the last
 * position. Totals come after intervals.
 */
const openPlaces = (shown: number[], intervals: number) => {
  const places = new Map(shown.map((index, place) => [index, place]))
  const width = intervals + 1
  return {
    width,
    count: shown.length + 1,
    placeOf: (index: number): number => places.get(index) ?? shown.length,
    /** Without intervals, there are only totals. */
    positionsOf: (place: number, interval: number): number[] =>
      intervals > 0 ? [place * width + interval, place * width + intervals] : [place * width],
  }
}

type Places = ReturnType<typeof openPlaces>

const sumPlaces = ({ eachSum }: Sources, { count, width, placeOf, positionsOf }: Places): Sums[] => {
  const sums: Sums[] = Array.from({ length: count * width }, () => ({ ...noSums }))
  eachSum((index, interval, more) => {
    for (const position of positionsOf(placeOf(index), interval)) {
      const sum = sums[position]
      if (!sum) continue
      sum.count += more.count
      sum.hits += more.hits
      sum.sum += more.sum
      sum.squares += more.squares
    }
  })
  return sums
}

/** Rounded values are 16-bit numbers. */
const stepCount = 65_536
const lowestStep = -32_768

/** The maximum number of counts for rounded values in memory. */
const mostCounts = 4_000_000

const addPercentiles = ({ eachStep }: Sources, places: Places, sums: Sums[], quantile: number): void => {
  const { count, width, placeOf, positionsOf } = places
  const occurs = new Uint8Array(stepCount)
  eachStep(() => (step) => {
    occurs[step - lowestStep] = 1
  })
  const steps = Array.from(occurs.keys()).flatMap((at) => (occurs[at] === 1 ? [at + lowestStep] : []))
  if (steps.length === 0) return
  const ranks = new Uint16Array(stepCount)
  for (const [rank, step] of steps.entries()) ranks[step - lowestStep] = rank
  const atOnce = Math.max(1, Math.floor(mostCounts / (width * steps.length)))
  for (let first = 0; first < count; first += atOnce) {
    const counts = new Float64Array(Math.min(atOnce, count - first) * width * steps.length)
    eachStep((index, interval) => {
      const place = placeOf(index) - first
      if (place < 0 || place >= atOnce) return undefined
      const positions = positionsOf(place, interval)
      return (step, more) => {
        for (const position of positions) {
          const at = position * steps.length + (ranks[step - lowestStep] ?? 0)
          counts[at] = (counts[at] ?? 0) + more
        }
      }
    })
    for (let at = 0; at < counts.length; at += steps.length) {
      const sum = sums[first * width + at / steps.length]
      if (sum && sum.count > 0)
        Object.assign(sum, percentileOf(steps, counts.subarray(at, at + steps.length), quantile))
    }
  }
}

export const sumDays = (given: ToSum): { groups: number; sums: GroupSums[] } => {
  const { intervals = 0, quantile, show } = given
  const sources = openSources(given)
  const { shown, groups } = chooseKeys(sources, show)
  const places = openPlaces(shown, intervals)
  const sums = sumPlaces(sources, places)
  if (quantile !== undefined) addPercentiles(sources, places, sums, quantile)
  return {
    groups,
    sums: sums.flatMap((sum, at) => {
      if (sum.count === 0) return []
      const [place, interval] = [Math.floor(at / places.width), at % places.width]
      const key = sources.keys[shown[place] ?? -1]
      return [{ ...sum, key, period: interval === intervals ? undefined : interval }]
    }),
  }
}

/** The counts and sums of all groups together. */
export type Whole = Pick<Sums, 'count' | 'hits' | 'sum' | 'squares'> & {
  /** The count of each rounded value. Empty unless percentiles are requested. */
  steps: Map<number, number>
}

export const sumWhole = (given: Pick<ToSum, 'groups' | 'packed' | 'cells' | 'days'>): Whole => {
  const { eachSum, eachStep } = openSources({ ...given, groupBy: [], timezone: 'UTC' })
  const whole: Whole = { count: 0, hits: 0, sum: 0, squares: 0, steps: new Map() }
  eachSum((_index, _interval, { count, hits, sum, squares }) => {
    whole.count += count
    whole.hits += hits
    whole.sum += sum
    whole.squares += squares
  })
  const { steps } = whole
  eachStep(() => (step, count) => steps.set(step, (steps.get(step) ?? 0) + count))
  return whole
}

/** Returns the days to read: the first and the last one, and all days with hours that belong to one interval. */
export const daysToRead = (days: Coverage['days'], isByHour: boolean) => {
  const all = [...days.keys()]
  const isWhole = (intervals: Int16Array) =>
    !isByHour && intervals.every((interval) => interval >= 0 && interval === intervals[0])
  return {
    first: new Date(all[0] ?? 0),
    last: new Date(all.at(-1) ?? 0),
    whole: [...days].flatMap(([day, intervals]) => (isWhole(intervals) ? [new Date(day)] : [])),
  }
}
