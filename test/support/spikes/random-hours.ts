// Simulates calls of monitors, which are the same for the same seed.

import type { Hour } from '../../../server/spikes/detector.ts'

export type UniformRandom = () => number

/** Returns random numbers from 0 up to but not including 1, with Chris Doty-Humphrey's sfc32 algorithm. */
export const seeded = (seed: number): UniformRandom => {
  let [a, b, c, counter] = [seed | 0, 0x9e3779b9, 0x243f6a88, 1]
  const random = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let turn = 0; turn < 20; turn++) random()
  return random
}

export const normal = (random: UniformRandom): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** Returns a binomial number, drawn from the gaps between hits. */
const binomial = (random: UniformRandom, of: number, chance: number): number => {
  if (chance > 0.5) return of - binomial(random, of, 1 - chance)
  const logMiss = Math.log1p(-chance)
  for (let hits = 0, passed = 0; ; hits++) {
    passed += Math.floor(Math.log(1 - random()) / logMiss) + 1
    if (passed > of) return hits
  }
}

/** Returns a Poisson number. Large ones are normal approximations, because the number of calls is not tested. */
const poisson = (random: UniformRandom, mean: number): number => {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)))
  let count = 0
  for (let left = random(), end = Math.exp(-mean); left > end; left *= random()) count++
  return count
}

/**
 * Returns the number of calls in an hour relative to the mean: nights are quiet, and weekends have half as many. The
 * first day is a Monday.
 */
const busyness = (hour: number): number => {
  const ofDay = hour % 24
  const byDay = ofDay >= 6 && ofDay <= 21 ? 0.15 + 1.7 * Math.sin(((ofDay - 6) / 15) * Math.PI) : 0.15
  return (byDay * (Math.floor(hour / 24) % 7 < 5 ? 1.2 : 0.5)) / 0.815
}

export type HourStream = {
  random: UniformRandom
  /** The average number of calls per hour. */
  volume: number
  rate: number
  /** Returns the change of the rate's log odds in an hour. */
  sway?: (hour: number) => number
}

/** Returns the hours that have calls. */
export const streamHours = function* ({ random, volume, rate, sway = () => 0 }: HourStream, from: number, to: number) {
  const logOdds = Math.log(rate / (1 - rate))
  for (let hour = from; hour < to; hour++) {
    const calls = poisson(random, volume * busyness(hour))
    if (calls === 0) continue
    const chance = 1 / (1 + Math.exp(-logOdds - sway(hour)))
    yield { hour, calls, affected: binomial(random, calls, chance) } satisfies Hour
  }
}
