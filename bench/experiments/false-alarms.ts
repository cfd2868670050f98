// Simulates equal arms, and counts how often an interval ever excludes 0.

import { anytimeEvidence } from '../../server/statistics/anytime.ts'
import type { Design } from '../../server/statistics/design.ts'
import { armsSoFar, observe, type ReplayedObservation, startReplay } from '../../test/support/experiments/replay.ts'
import { fixedExcludesZero } from './exclusions.ts'
import {
  affected,
  type Callers,
  type Conversations,
  callers,
  designOf,
  type Scores,
  score,
  strangers,
} from './streams.ts'
import { defineStudy, percent, type StudyLimit, shareOf } from './study.ts'

const firstLook = 4
const inEachArm = 5_000

export const splits = { '50/50': 0.5, '80/20': 0.8, '90/10': 0.9 } as const
export type SplitName = keyof typeof splits
const splitNames = Object.keys(splits) as SplitName[]

type Claims = { anytime: boolean; fixed: boolean }

/** Returns whether each interval ever excluded 0. Looks after every conversation until both arms have enough. */
const claimsOf = (conversations: Conversations, design: Design): Claims => {
  const replay = startReplay(design.kind)
  const claims: Claims = { anytime: false, fixed: false }
  let count = 0
  for (const conversation of conversations) {
    observe(replay, conversation)
    count += 1
    if (count >= firstLook) {
      const arms = armsSoFar(replay)
      claims.anytime ||= anytimeEvidence(arms, design).p < design.alpha
      claims.fixed ||= fixedExcludesZero(arms, design)
    }
    const { a, b } = replay.sums
    if ((claims.anytime && claims.fixed) || Math.min(a.count, b.count) >= inEachArm) break
  }
  return claims
}

const judgedOf = (name: string, outcomes: readonly Claims[]): StudyLimit[] => [
  { name, share: shareOf(outcomes, ({ anytime }) => anytime), runs: outcomes.length, atMost: 0.05 },
  // This stops when both intervals have excluded 0, or at the last look.
  {
    name: `${name}, ordinary`,
    share: shareOf(outcomes, ({ fixed }) => fixed),
    runs: outcomes.length,
    atLeast: 0.25,
  },
]

const cellsOf = (outcomes: readonly Claims[]): string[] => [
  percent(shareOf(outcomes, ({ anytime }) => anytime)),
  percent(shareOf(outcomes, ({ fixed }) => fixed)),
]

const rates = [0.5, 0.1, 0.02]

export const falseAlarmsOfRates = defineStudy({
  title: 'False alarms: rates',
  about:
    'Both arms have the same rate. The intervals are checked after every conversation from the fourth on, until ' +
    'each arm has 5,000. The table shows the share of experiments in which an interval ever excluded zero and so ' +
    'raised a false alarm.',
  runs: 600,
  settings: rates.flatMap((rate) => splitNames.map((split) => ({ rate, split }))),
  run: ({ rate, split }, random) =>
    claimsOf(
      strangers(random, splits[split], () => affected(random, rate)),
      designOf('boolean'),
    ),
  head: ['rate in both arms', 'split', 'always-valid', 'ordinary'],
  row: ({ rate, split }, outcomes) => ({
    cells: [`${100 * rate}%`, split, ...cellsOf(outcomes)],
    judged: judgedOf(`false alarms at a rate of ${rate}, ${split}`, outcomes),
  }),
})

const kinds: Scores[] = ['normal', 'from 1 to 5, skewed']

export const falseAlarmsOfScores = defineStudy({
  title: 'False alarms: scores',
  about: 'The same with scores that have the same distribution in both arms.',
  runs: 600,
  settings: kinds.flatMap((scores) => splitNames.map((split) => ({ scores, split }))),
  run: ({ scores, split }, random) =>
    claimsOf(
      strangers(random, splits[split], () => score(random, scores)),
      designOf('numeric', scores === 'normal' ? null : { low: 1, high: 5 }),
    ),
  head: ['scores', 'split', 'always-valid', 'ordinary'],
  row: ({ scores, split }, outcomes) => ({
    cells: [scores, split, ...cellsOf(outcomes)],
    judged: judgedOf(`false alarms of scores ${scores}, ${split}`, outcomes),
  }),
})

type Returning = Pick<Callers, 'returning' | 'routed'> & { split: SplitName }

const returningCallers: Returning[] = [
  ...(['anyone', 'often the same'] as const).flatMap((returning) =>
    splitNames.map((split) => ({ returning, routed: 'by caller' as const, split })),
  ),
  { returning: 'anyone', routed: 'by conversation', split: '50/50' },
]

const returningOf = { anyone: 'any earlier caller', 'often the same': 'often the same few' } as const

export const falseAlarmsOfCallers = defineStudy({
  title: 'False alarms: returning callers',
  about:
    'The rate is 20% in both arms. Three in ten conversations are from new callers and the others from returning ' +
    'callers. Two conversations of the same caller are similar (correlation 1/3). With units, callers are ' +
    'recognized. Without units, each conversation counts as its own caller.',
  runs: 400,
  settings: returningCallers,
  run: ({ split, ...kind }, random) => {
    const conversations = callers(random, { ...kind, newShare: 0.3, correlation: 1 / 3 }, splits[split], {
      a: 0.2,
      b: 0.2,
    })
    const design = designOf('boolean')
    const held = { a: 0, b: 0 }
    const made: ReplayedObservation[] = []
    for (const conversation of conversations) {
      made.push(conversation)
      held[conversation.arm] += 1
      if (Math.min(held.a, held.b) >= inEachArm) break
    }
    return {
      known: claimsOf(made, design),
      unknown: claimsOf(
        made.map((conversation) => ({ ...conversation, unit: null })),
        design,
      ),
    }
  },
  head: [
    'returning callers',
    'routed',
    'split',
    'always-valid with units',
    'ordinary with units',
    'always-valid without units',
    'ordinary without units',
  ],
  row: ({ returning, routed, split }, outcomes) => {
    const known = outcomes.map((outcome) => outcome.known)
    const unknown = outcomes.map((outcome) => outcome.unknown)
    return {
      cells: [returningOf[returning], routed, split, ...cellsOf(known), ...cellsOf(unknown)],
      judged: judgedOf(`false alarms where ${returningOf[returning]} return, routed ${routed}, ${split}`, known),
    }
  },
})
