// Simulates years in which nothing changes, and counts the alarms that the product would raise. Needs no database. The
// data is seeded.

import {
  decideChange,
  decideFieldChange,
  decideRate,
  decideStatistic,
} from '../../server/alert-rules/measures/is-met.ts'
import type { WindowSums } from '../../server/alert-rules/measures/queries.ts'
import { seeded, type UniformRandom } from '../../test/support/spikes/random-hours.ts'
import { judge, print } from '../report.ts'

const years = 1_000
const minutesPerYear = 365 * 24 * 60
const minimumSample = 30

const sumsOf = (count: number, hits: number): WindowSums => ({ count, hits, sum: 0, squares: 0, quantile: null })

/** Draws the number of affected conversations among `count`. */
const binomial = (count: number, rate: number): ((random: UniformRandom) => number) => {
  const cumulative: number[] = []
  // This calculates with logarithms, because the first terms can be too small for a number.
  let logTerm = count * Math.log1p(-rate)
  let sum = 0
  for (let hits = 0; hits <= count; hits++) {
    sum += Math.exp(logTerm)
    cumulative.push(sum)
    logTerm += Math.log((count - hits) / (hits + 1)) + Math.log(rate / (1 - rate))
  }
  return (random) => {
    const at = random() * sum
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? 1) > at) high = middle
      else low = middle + 1
    }
    return low
  }
}

type Situation = {
  rate: number
  /** The number of conversations in even and in odd windows. */
  counts: [number, number]
  windowMinutes: number
  groups: number
  falseAlarmsPerYear: number
}

/**
 * Returns a function that tests whether two windows raise an alarm. The test is slow and pairs repeat, so answers are
 * cached.
 */
const openTest = ({ windowMinutes, groups, falseAlarmsPerYear }: Situation) => {
  const known = new Map<string, boolean>()
  const condition = { direction: 'either', falseAlarmsPerYear } as const
  return (before: WindowSums, now: WindowSums): boolean => {
    const key = `${before.count} ${before.hits} ${now.count} ${now.hits}`
    const answer =
      known.get(key) ??
      decideChange({ before, now }, condition, { windowMinutes, groups, minimumSample }).verdict === 'met'
    known.set(key, answer)
    return answer
  }
}

/** Counts the alarms of a rule in all years. Each window is compared with the previous one. */
const countAlarms = (situation: Situation): number => {
  const { rate, counts, windowMinutes, groups } = situation
  const alarms = openTest(situation)
  const draws = counts.map((count) => binomial(count, rate))
  const windows = Math.floor(minutesPerYear / windowMinutes)
  const random = seeded(1)
  const draw = (window: number): WindowSums => sumsOf(counts[window % 2] ?? 0, draws[window % 2]?.(random) ?? 0)
  let count = 0
  for (let group = 0; group < groups; group++) {
    let before = draw(1)
    for (let window = 0; window < windows * years; window++) {
      const now = draw(window)
      if (alarms(before, now)) count++
      before = now
    }
  }
  return count
}

const powerRuns = 2_000

/**
 * Returns the share of windows that raise an alarm if the rate is this many times as high as in the previous window.
 */
const power = (situation: Situation, times: number): number => {
  const { rate, counts } = situation
  const alarms = openTest(situation)
  const random = seeded(2)
  const before = binomial(counts[0], rate)
  const now = binomial(counts[1], Math.min(0.99, rate * times))
  let detected = 0
  for (let run = 0; run < powerRuns; run++) {
    if (alarms(sumsOf(counts[0], before(random)), sumsOf(counts[1], now(random)))) detected++
  }
  return detected / powerRuns
}

const day = 1_440
const hour = 60

const situations: Situation[] = [
  ...[0.005, 0.05, 0.2, 0.5].flatMap((rate) =>
    (
      [
        [30, 30],
        [200, 200],
        [2_000, 2_000],
        [50, 1_000],
      ] as [number, number][]
    ).map((counts) => ({
      rate,
      counts,
      windowMinutes: day,
      groups: 1,
      falseAlarmsPerYear: 2,
    })),
  ),
  { rate: 0.2, counts: [200, 200], windowMinutes: hour, groups: 1, falseAlarmsPerYear: 2 },
  { rate: 0.05, counts: [60, 200], windowMinutes: hour, groups: 1, falseAlarmsPerYear: 12 },
  { rate: 0.2, counts: [200, 200], windowMinutes: day, groups: 10, falseAlarmsPerYear: 2 },
  { rate: 0.2, counts: [200, 200], windowMinutes: day, groups: 1, falseAlarmsPerYear: 0.2 },
  { rate: 0.2, counts: [200, 200], windowMinutes: day, groups: 1, falseAlarmsPerYear: 26 },
]

export const judgeChanges = (): void => {
  print(`\nFalse alarms of \`change\` in ${years} years without a change, and how often a higher rate is seen at once`)
  for (const situation of situations) {
    const { rate, counts, windowMinutes, groups, falseAlarmsPerYear } = situation
    const perYear = countAlarms(situation) / years
    const seen = [1.5, 2, 3].map((times) => `×${times}: ${(power(situation, times) * 100).toFixed(0)}%`).join(', ')
    const length = windowMinutes === day ? 'days' : 'hours'
    const groupWords = groups === 1 ? '' : `, ${groups} groups`
    const name = `rate ${rate * 100}%, ${counts.join(' and ')} conversations, ${length}${groupWords}; seen ${seen}; false`
    judge(name, perYear, { atMost: falseAlarmsPerYear }, ' a year')
  }
}

type Values = { name: string; draw: (random: UniformRandom) => number }

const normal = (random: UniformRandom): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

const distributions: Values[] = [
  { name: 'normal values', draw: normal },
  { name: 'skewed values', draw: (random) => Math.exp(normal(random)) },
  { name: 'whole numbers from 1 to 5', draw: (random) => 1 + Math.floor(5 * random() ** 2) },
  { name: 'mostly zeros', draw: (random) => (random() < 0.7 ? 0 : Math.exp(2 * normal(random))) },
]

const fieldYears = 200

/** Splits two windows at the median of both, as the database does. */
const pairOf = (before: number[], now: number[]) => {
  const all = [...before, ...now].sort((one, other) => one - other)
  const median = all[Math.ceil(all.length / 2) - 1] ?? 0
  const sums = (values: number[]) => sumsOf(values.length, values.filter((value) => value > median).length)
  return { before: sums(before), now: sums(now) }
}

type FieldSituation = { values: Values; counts: [number, number]; falseAlarmsPerYear: number }

const openFieldTest = ({ falseAlarmsPerYear }: Pick<FieldSituation, 'falseAlarmsPerYear'>) => {
  const known = new Map<string, boolean>()
  const condition = { direction: 'either', falseAlarmsPerYear } as const
  return (earlier: number[], later: number[]): boolean => {
    const pair = pairOf(earlier, later)
    const key = `${pair.before.count} ${pair.before.hits} ${pair.now.count} ${pair.now.hits}`
    const about = { windowMinutes: day, groups: 1, minimumSample }
    const answer = known.get(key) ?? decideFieldChange(pair, condition, about).verdict === 'met'
    known.set(key, answer)
    return answer
  }
}

const countFieldAlarms = ({ values, counts, falseAlarmsPerYear }: FieldSituation): number => {
  const alarms = openFieldTest({ falseAlarmsPerYear })
  const random = seeded(3)
  const draw = (window: number) => Array.from({ length: counts[window % 2] ?? 0 }, () => values.draw(random))
  let [count, before] = [0, draw(1)]
  for (let window = 0; window < 365 * fieldYears; window++) {
    const now = draw(window)
    if (alarms(before, now)) count++
    before = now
  }
  return count
}

/** Returns the share of windows that raise an alarm if all values are this much larger than in the previous window. */
const fieldPower = ({ values, counts, falseAlarmsPerYear }: FieldSituation, by: number): number => {
  const alarms = openFieldTest({ falseAlarmsPerYear })
  const random = seeded(4)
  let detected = 0
  for (let run = 0; run < powerRuns; run++) {
    const before = Array.from({ length: counts[0] }, () => values.draw(random))
    if (
      alarms(
        before,
        Array.from({ length: counts[1] }, () => values.draw(random) + by),
      )
    )
      detected++
  }
  return detected / powerRuns
}

export const judgeFieldChanges = (): void => {
  print(
    `\nFalse alarms of \`change\` of a field in ${fieldYears} years without a change, and how often larger values are seen`,
  )
  for (const values of distributions) {
    for (const counts of [
      [30, 30],
      [200, 200],
      [50, 500],
    ] as [number, number][]) {
      const situation = { values, counts, falseAlarmsPerYear: 2 }
      const perYear = countFieldAlarms(situation) / fieldYears
      const seen = [0.5, 1].map((by) => `+${by}: ${(fieldPower(situation, by) * 100).toFixed(0)}%`).join(', ')
      const name = `${values.name}, ${counts.join(' and ')} conversations, days; seen ${seen}; false`
      judge(name, perYear, { atMost: 2 }, ' a year')
    }
  }
}

/** Lists all outcomes with fewer conversations than the minimum. */
const smallSamples = (): WindowSums[] =>
  Array.from({ length: minimumSample }, (_, count) =>
    Array.from({ length: count + 1 }, (_, hits) => ({ count, hits, sum: hits, squares: hits, quantile: hits })),
  ).flat()

/** Decides with thresholds that all outcomes but one exceed. */
const verdictsOf = (sums: WindowSums): string[] => {
  const thresholds = [
    { direction: 'above', threshold: 0 },
    { direction: 'below', threshold: 1 },
  ] as const
  return thresholds.flatMap((at) => [
    ...(['interval', 'point'] as const).map(
      (certainty) => decideRate(sums, { ...at, certainty }, minimumSample).verdict,
    ),
    ...(['mean', 'p50', 'p95', 'p99'] as const).map(
      (statistic) => decideStatistic(sums, { ...at, statistic }, minimumSample).verdict,
    ),
  ])
}

export const judgeSmallSamples = (): void => {
  const verdicts = smallSamples().flatMap(verdictsOf)
  const fired = verdicts.filter((verdict) => verdict === 'met').length
  print(`\nRates, means, and percentiles of fewer than ${minimumSample} conversations: ${verdicts.length} decisions`)
  judge('rules that fired', fired, { atMost: 0 }, '')
}
