// Simulates arms with a known difference, and counts how often the intervals contain it.

import { anytimeDifference } from '../../server/statistics/anytime.ts'
import { fixedDifference } from '../../server/statistics/fixed.ts'
import type { Interval } from '../../server/statistics/interval.ts'
import { armsSoFar, observe, startReplay } from '../../test/support/experiments/replay.ts'
import { anytimeExcludes } from './exclusions.ts'
import { type SplitName, splits } from './false-alarms.ts'
import { affected, callers, designOf, type Rates, strangers } from './streams.ts'
import { defineStudy, percent, shareOf } from './study.ts'

const firstLook = 4
const conversations = 10_000
const looks = [100, 500, 2_000]

type Setting = Rates & { split: SplitName; callersReturn: boolean }

const pairs: Rates[] = [
  { a: 0.2, b: 0.25 },
  { a: 0.2, b: 0.3 },
  { a: 0.05, b: 0.02 },
  { a: 0.5, b: 0.7 },
]

const settings: Setting[] = [
  ...(['50/50', '90/10'] as const).flatMap((split) =>
    pairs.map((rates) => ({ ...rates, split, callersReturn: false })),
  ),
  { a: 0.2, b: 0.3, split: '50/50', callersReturn: true },
]

const holds = (interval: Interval | null, difference: number) =>
  interval === null || (interval.low <= difference && difference <= interval.high)

export const coverage = defineStudy({
  title: 'Coverage of the true difference',
  about:
    'The arms differ by a known amount. "Ever missed" is the share of experiments in which the always-valid ' +
    'interval ever excluded the true difference, checked after every conversation from the fourth to the ' +
    '10,000th. The other columns are single looks after 100, 500, and 2,000 conversations: the share of ' +
    'experiments in which each interval contained the true difference.',
  runs: 1_000,
  settings,
  run: ({ split, callersReturn, ...rates }, random) => {
    const design = designOf('boolean')
    const difference = rates.b - rates.a
    const stream = callersReturn
      ? callers(
          random,
          { newShare: 0.3, correlation: 1 / 3, returning: 'anyone', routed: 'by caller' },
          splits[split],
          rates,
        )
      : strangers(random, splits[split], (arm) => affected(random, rates[arm]))
    const replay = startReplay('boolean')
    const atLooks: { anytime: boolean; fixed: boolean }[] = []
    let everMissed = false
    let count = 0
    for (const conversation of stream) {
      observe(replay, conversation)
      count += 1
      if (count > conversations) break
      if (count < firstLook || (everMissed && count > (looks.at(-1) ?? 0))) continue
      const arms = armsSoFar(replay)
      const missed = anytimeExcludes(arms, design, difference)
      everMissed ||= missed
      if (!looks.includes(count)) continue
      const anytime = holds(anytimeDifference(arms, design).interval, difference)
      if (anytime === missed) throw new Error('The interval excludes something else than its evidence does')
      atLooks.push({ anytime, fixed: holds(fixedDifference(arms, design).interval, difference) })
    }
    return { everMissed, atLooks }
  },
  head: [
    'rates',
    'split',
    'callers',
    'ever missed',
    ...looks.flatMap((look) => [`always-valid at ${look.toLocaleString('en-US')}`, 'ordinary']),
  ],
  row: ({ a, b, split, callersReturn }, outcomes) => {
    const name = `${a} against ${b}, ${split}${callersReturn ? ', callers return' : ''}`
    const everMissed = shareOf(outcomes, (outcome) => outcome.everMissed)
    const runs = outcomes.length
    const covered = looks.map((look, at) => ({
      look,
      anytime: shareOf(outcomes, ({ atLooks }) => atLooks[at]?.anytime === true),
      fixed: shareOf(outcomes, ({ atLooks }) => atLooks[at]?.fixed === true),
    }))
    return {
      cells: [
        `${100 * a}% and ${100 * b}%`,
        split,
        callersReturn ? 'return' : 'call once',
        percent(everMissed),
        ...covered.flatMap(({ anytime, fixed }) => [percent(anytime), percent(fixed)]),
      ],
      judged: [
        { name: `ever missed, ${name}`, share: everMissed, runs, atMost: 0.05 },
        // The ordinary interval is only shown for comparison. With few returning callers, it is too narrow.
        ...covered.map(({ look, anytime }) => {
          return { name: `always-valid at ${look}, ${name}`, share: anytime, runs, atLeast: 0.95 }
        }),
      ],
    }
  },
})
