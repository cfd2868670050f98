// The time line: what each look would have shown, had one looked then.

import { anytimeDifference } from './anytime.ts'
import { estimateArms } from './arm.ts'
import type { Design } from './design.ts'
import type { Interval } from './interval.ts'
import { pValueOf } from './mixtures.ts'
import { type Observation, observe, startReplay } from './replay.ts'
import { type Split, splitLogE } from './sample-ratio.ts'
import type { Arm, Sums } from './sums.ts'

export const mostPoints = 200

/** Days are of UTC. */
const dayMs = 24 * 60 * 60 * 1000

const growth = 1.1

/** Milliseconds since 1970. */
export type TimedObservation = Observation & { at: number }

/** The first conversation of a unit. */
export type Arrival = { at: number; arm: Arm }

export type Point = {
  at: number
  observedA: number
  observedB: number
  meanA: number | null
  meanB: number | null
  difference: number | null
  interval: Interval | null
  p: number
  /** Of the sample ratio, the smallest so far; null when no share is expected. */
  splitP: number | null
}

type Moment = { at: number; sums: Sums; split: Split }

/** Observations by the time of completion and arrivals by theirs, oldest first. */
export const timeline = (
  observations: Iterable<TimedObservation>,
  arrivals: Iterable<Arrival>,
  design: Design,
  expectedA: number | null,
): Point[] => {
  let smallest = 1
  return thin(momentsOf(observations, arrivals, design)).map(({ at, sums, split }) => {
    const arms = estimateArms(sums, design.kind)
    const { interval, p } = anytimeDifference(arms, design)
    if (expectedA !== null && split.a + split.b > 0) {
      smallest = Math.min(smallest, pValueOf(splitLogE(split, expectedA)))
    }
    return {
      at,
      observedA: arms.a.observed,
      observedB: arms.b.observed,
      meanA: arms.a.mean,
      meanB: arms.b.mean,
      difference: arms.difference,
      interval,
      p,
      splitP: expectedA === null ? null : smallest,
    }
  })
}

/** The end of each day, each tenth more of observations, and the last one. */
const momentsOf = (
  observations: Iterable<TimedObservation>,
  arrivals: Iterable<Arrival>,
  { kind }: Design,
): Moment[] => {
  const replay = startReplay(kind)
  const moments: Moment[] = []
  const coming = arrivals[Symbol.iterator]()
  let arrival = coming.next()
  let split: Split = { a: 0, b: 0 }
  const arriveUntil = (at: number) => {
    while (!arrival.done && arrival.value.at <= at) {
      split = { ...split, [arrival.value.arm]: split[arrival.value.arm] + 1 }
      arrival = coming.next()
    }
  }
  let last: Moment | null = null
  let count = 0
  let nextCount = 1
  for (const observation of observations) {
    const { at } = observation
    if (last && last !== moments.at(-1) && dayOf(last.at) !== dayOf(at)) moments.push(last)
    arriveUntil(at)
    observe(replay, observation)
    count += 1
    last = { at, sums: replay.sums, split }
    if (count < nextCount) continue
    moments.push(last)
    while (nextCount <= count) nextCount = Math.max(nextCount + 1, Math.round(nextCount * growth))
  }
  if (last && last !== moments.at(-1)) moments.push(last)
  return moments
}

const dayOf = (at: number) => Math.floor(at / dayMs)

/** Evenly, with the last. */
const thin = (moments: readonly Moment[]): Moment[] => {
  if (moments.length <= mostPoints) return [...moments]
  return Array.from({ length: mostPoints }, (_, point) => {
    return moments[Math.round((point * (moments.length - 1)) / (mostPoints - 1))]
  }).filter((moment) => moment !== undefined)
}
