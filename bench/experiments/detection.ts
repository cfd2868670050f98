// Simulates arms that differ, and measures how long it takes until the always-valid interval shows it.

import { anytimeEvidence } from '../../server/statistics/anytime.ts'
import { normalQuantile } from '../../server/statistics/distributions.ts'
import { twoSidedZ } from '../../server/statistics/rate-intervals.ts'
import { armsSoFar, observe, startReplay } from '../../test/support/experiments/replay.ts'
import { affected, designOf, type Rates, strangers } from './streams.ts'
import { defineStudy, percent, shareOf, whole } from './study.ts'

const firstLook = 4
const conversations = 5_000
const power = 0.8

/** Returns the sample size of a fixed test in both arms. The usual formula is inexact for small samples. */
const fixedSize = ({ a, b }: Rates, alpha: number): number => {
  const mean = (a + b) / 2
  const alike = twoSidedZ(alpha) * Math.sqrt(2 * mean * (1 - mean))
  const apart = normalQuantile(power) * Math.sqrt(a * (1 - a) + b * (1 - b))
  return 2 * Math.ceil(((alike + apart) / (b - a)) ** 2)
}

export const detection = defineStudy({
  title: 'Conversations until a difference is detected',
  about:
    'Each arm gets half of the conversations, and the always-valid interval is checked after every one. The ' +
    'table shows how many conversations of both arms together it took until half of the experiments had excluded ' +
    'zero, and until 8 of 10 had. It also shows the share of experiments that had excluded zero by 2,000 and by ' +
    '5,000 conversations. Compare "8 of 10" with the last column: the number of conversations that an ordinary ' +
    'test with a single look at its end needs to detect the difference as often. That column is calculated, not ' +
    'simulated.',
  runs: 2_000,
  settings: [
    { a: 0.05, b: 0.65 },
    { a: 0.05, b: 0.35 },
    { a: 0.5, b: 0.7 },
    { a: 0.2, b: 0.3 },
    { a: 0.2, b: 0.25 },
  ],
  run: (rates, random) => {
    const design = designOf('boolean')
    const replay = startReplay('boolean')
    let count = 0
    for (const conversation of strangers(random, 0.5, (arm) => affected(random, rates[arm]))) {
      observe(replay, conversation)
      count += 1
      if (count >= firstLook && anytimeEvidence(armsSoFar(replay), design).p < design.alpha) return count
      if (count === conversations) break
    }
    return null
  },
  head: ['rates', 'half', '8 of 10', 'detected by 2,000', 'detected by 5,000', 'ordinary, one look'],
  row: ({ a, b }, outcomes) => {
    const sorted = outcomes.map((count) => count ?? Number.POSITIVE_INFINITY).sort((one, other) => one - other)
    const shownOf = (share: number) => {
      const count = sorted[Math.ceil(share * sorted.length) - 1] ?? Number.POSITIVE_INFINITY
      return Number.isFinite(count) ? whole(count) : `more than ${whole(conversations)}`
    }
    const seenBy = (most: number) => percent(shareOf(outcomes, (count) => count !== null && count <= most))
    return {
      cells: [
        `${100 * a}% and ${100 * b}%`,
        shownOf(0.5),
        shownOf(power),
        seenBy(2_000),
        seenBy(5_000),
        whole(fixedSize({ a, b }, designOf('boolean').alpha)),
      ],
      judged: [],
    }
  },
})
