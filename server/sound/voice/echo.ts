import { quantile } from '../quantile.ts'

/** Finds the times at which a channel only contains the echo of the other one. */

/** A channel's ratings of windows, and the levels of its windows in decibels. */
export type Rated = { ratings: Float32Array; levels: Float32Array }

const likelySpeech = 0.5
/** Echoes arrive at most this many windows later. */
const longestDelay = 10
/** A part of the other channel's speech that is loud enough to be heard as an echo. */
const loudPart = 10
/** An echo is quieter than this only if nobody can hear it. */
const mostAttenuation = 60
/** An echo is at least this much quieter than the other channel was just before, and than this channel's own speech. */
const [quieterThanOther, quieterThanOwn] = [15, 8]

/** Returns the level of the loud parts of a channel's speech. */
const loudLevel = ({ ratings, levels }: Rated): number | undefined =>
  quantile(
    levels.filter((_, window) => (ratings[window] as number) >= likelySpeech),
    0.8,
  )

/** Returns the highest level of each window and those just before it. */
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

/** Returns which windows of a channel only contain the echo of the other one. */
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
