import { quantile } from '../quantile.ts'

/** Finds the times at which a channel contains only the echo of the other one. */

/** The ratings of a channel's windows, and their levels in decibels. */
export type Rated = { ratings: Float32Array; levels: Float32Array }

const likelySpeech = 0.5
/** Echoes arrive at most this many windows later. */
const longestDelay = 10
/** Speech on the other channel within this many decibels of its loudest can be heard as an echo. */
const loudPart = 10
/** An echo that is quieter than this is inaudible. */
const mostAttenuation = 60
/**
 * An echo is at least this much quieter than the other channel was a moment earlier, and than this channel's own
 * speech.
 */
const [quieterThanOther, quieterThanOwn] = [15, 8]

/** Returns the level of the loud passages in a channel's speech. */
const loudLevel = ({ ratings, levels }: Rated): number | undefined =>
  quantile(
    levels.filter((_, window) => (ratings[window] as number) >= likelySpeech),
    0.8,
  )

/** Returns the highest level in each window and the windows just before it. */
const recentLevels = (levels: Float32Array): Float32Array =>
  levels.map((_, window) => Math.max(...levels.subarray(Math.max(0, window - longestDelay), window + 1)))

/** Returns how much quieter this channel usually is while the other one speaks. */
const usualAttenuation = (own: Rated, other: Rated, recent: Float32Array): number | undefined => {
  const loud = loudLevel(other)
  if (loud === undefined) return undefined
  const attenuations = recent.map((level, window) => level - (own.levels[window] as number))
  return quantile(
    attenuations.filter((_, window) => (other.levels[window] as number) > loud - loudPart),
    0.5,
  )
}

/** Returns which windows of a channel contain only the echo of the other one. */
export const findEcho = (own: Rated, other: Rated): boolean[] => {
  const recent = recentLevels(other.levels)
  const usual = usualAttenuation(own, other, recent)
  if (usual === undefined || usual > mostAttenuation) return []
  const loud = loudLevel(own) ?? Number.POSITIVE_INFINITY
  return Array.from(
    own.levels,
    (level, window) => level < loud - quieterThanOwn && level < (recent[window] as number) - quieterThanOther,
  )
}

/** A measured echo. `db` is its level relative to the other channel's speech. */
export type Echo = { db: number; confidence: number }

/** With less speech, no echo is measured. */
const fewestWindows = 100
/** The channel's level must follow the other one's at least this closely. */
const leastCorrelation = 0.5
/** If the echo were louder than this, both channels would have the same sound. */
const leastAttenuation = 6

type Pairing = { own: Rated; other: Rated; most: number }

/**
 * Returns the levels of both channels for the windows in which this channel doesn't speak and the other one did, this
 * many windows earlier.
 */
const pairLevels = ({ own, other, most }: Pairing, delay: number): { heard: number[]; spoken: number[] } => {
  const [heard, spoken]: [number[], number[]] = [[], []]
  for (let window = delay; window < own.levels.length; window++) {
    const level = own.levels[window] as number
    if (level >= most || (other.ratings[window - delay] as number) < likelySpeech) continue
    heard.push(level)
    spoken.push(other.levels[window - delay] as number)
  }
  return { heard, spoken }
}

const meanOf = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the correlation of two lists of levels, or 0 if one of them never changes. */
const correlationOf = (some: number[], others: number[]): number => {
  const [mean, otherMean] = [meanOf(some), meanOf(others)]
  let [common, square, otherSquare] = [0, 0, 0]
  some.forEach((value, index) => {
    const [distance, otherDistance] = [value - mean, (others[index] as number) - otherMean]
    common += distance * otherDistance
    square += distance * distance
    otherSquare += otherDistance * otherDistance
  })
  return square === 0 || otherSquare === 0 ? 0 : common / Math.sqrt(square * otherSquare)
}

/**
 * Measures the echo of the other channel. Returns undefined if this channel's level does not follow the other one's.
 */
export const measureEcho = (own: Rated, other: Rated): Echo | undefined => {
  const pairing = { own, other, most: (loudLevel(own) ?? Number.POSITIVE_INFINITY) - quieterThanOwn }
  const delays = Array.from({ length: longestDelay + 1 }, (_, delay) => {
    const { heard, spoken } = pairLevels(pairing, delay)
    return { delay, correlation: heard.length < fewestWindows ? 0 : correlationOf(heard, spoken) }
  })
  const [best] = delays.sort((a, b) => b.correlation - a.correlation)
  const loud = loudLevel(other)
  if (!best || best.correlation < leastCorrelation || loud === undefined) return undefined
  const { heard, spoken } = pairLevels(pairing, best.delay)
  const differences = heard.map((level, index) => level - (spoken[index] as number))
  const db = quantile(
    differences.filter((_, index) => (spoken[index] as number) > loud - loudPart),
    0.5,
  )
  if (db === undefined || db > -leastAttenuation || db < -mostAttenuation) return undefined
  return { db, confidence: Math.min(1, best.correlation) }
}
