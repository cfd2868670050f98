import { percentilePositions } from '../statistics/percentiles.ts'

/** Determines whether the response times in an agent's transcripts differ from those in its recordings. Pure. */

/** A call's median measured response time minus the reported one, and the day on which the call started. */
export type Difference = { day: number; ms: number }

export type Gap = {
  calls: number
  /** Positive if customers wait longer than reported. */
  medianMs: number
  lowMs: number
  highMs: number
}

/** Smaller differences are within the measurement accuracy, or have no consequences. */
const toleratedMs = 200
const fewestCalls = 50
/** Days with fewer calls are ignored. */
const fewestOfDay = 5
const fewestDays = 3
/** Every agent is checked every day, so a 99.9% interval is used for the median. */
const z = 3.29

const sortedOf = (differences: Difference[]): number[] => differences.map(({ ms }) => ms).sort((a, b) => a - b)

const medianWithin = (sorted: number[]) => {
  const upto = sorted.map((_, at) => at + 1)
  const { at, low, high } = percentilePositions(upto, 0.5, z)
  if (at === null || low === null || high === null) return undefined
  return { medianMs: sorted[at] ?? 0, lowMs: sorted[low] ?? 0, highMs: sorted[high] ?? 0 }
}

/** Returns 1 or -1 if a difference is too large, and otherwise 0. */
const signOf = (ms: number): number => (Math.abs(ms) > toleratedMs ? Math.sign(ms) : 0)

const signsOfDays = (differences: Difference[]): number[] =>
  [...Map.groupBy(differences, ({ day }) => day).values()]
    .filter((ofDay) => ofDay.length >= fewestOfDay)
    .map((ofDay) => {
      const sorted = sortedOf(ofDay)
      return signOf(sorted[Math.floor((sorted.length - 1) / 2)] ?? 0)
    })

/**
 * Returns the gap if it is certain and persistent: the entire interval of the median exceeds the tolerance, and so do
 * the medians of several individual days, in the same direction.
 */
export const findGap = (differences: Difference[]): Gap | undefined => {
  if (differences.length < fewestCalls) return undefined
  const median = medianWithin(sortedOf(differences))
  if (!median) return undefined
  const sign = signOf(median.lowMs)
  const days = signsOfDays(differences)
  const isCertain = sign !== 0 && sign === signOf(median.highMs)
  const isPersistent = days.length >= fewestDays && days.every((ofDay) => ofDay === sign)
  return isCertain && isPersistent ? { calls: differences.length, ...median } : undefined
}
