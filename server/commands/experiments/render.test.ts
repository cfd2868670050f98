import { expect, it } from 'vitest'
import type { Schemas } from '../../../client/src/earshot.ts'
import { tellExperiment } from './render.ts'

type Outcome = Schemas['OutcomeResult']
type Interval = { low: number; high: number } | null

/** Returns an outcome with only the properties that the output uses. */
const outcome = (name: string, kind: Outcome['kind'], estimate: number | null, interval: Interval, verdict: string) =>
  ({
    name,
    kind,
    primary: name === 'Refund',
    arms: { a: { mean: 0.25 }, b: { mean: estimate && 0.25 + estimate } },
    difference: { estimate, anytime: { interval } },
    verdict: { verdict, text: `About ${name}.` },
  }) as unknown as Outcome

const experiment = (outcomes: Outcome[], concerns: string[] = []) =>
  ({
    name: 'Shorter \u001b[2Jgreeting',
    status: 'running',
    startedAt: '2026-11-01T00:00:00.000Z',
    finishedAt: null,
    armAName: null,
    armBName: 'Short',
    outcomes,
    health: { concerns, conversations: { a: 120, b: 118 }, sampleRatio: { units: { a: 100, b: 99 } } },
  }) as unknown as Schemas['Experiment']

const plainPaint = (text: string) => text

it('shows arms, outcomes, verdicts, and a plot with zero in the middle', () => {
  const told = tellExperiment(
    experiment(
      [
        outcome('Refund', 'boolean', 0.1, { low: 0.05, high: 0.2 }, 'b_higher'),
        outcome('Waiting', 'boolean', -0.1, { low: -0.2, high: 0.05 }, 'no_difference_shown'),
        outcome('Score', 'numeric', 1, { low: -2, high: 4 }, 'no_difference_shown'),
        outcome('New', 'boolean', null, null, 'too_early'),
      ],
      ['routed_per_conversation'],
    ),
    plainPaint,
  )
  const lines = told.split('\n')
  expect(told).not.toContain('\u001b')
  expect(lines).toContain('! routed per conversation')
  expect(lines).toContain('B: Short            118     99')
  expect(lines).toContain('Refund *  25.0%  35.0%  +10.0 pp [+5.0, +20.0]  B is higher')
  expect(lines).toContain('New       25.0%      –  –                       too early')
  expect(lines).toContain('Refund                       │    ├────●─────────┤  ±20.0 pp')
  expect(lines).toContain('Waiting  ├─────────●─────────┼────┤                 ±20.0 pp')
  expect(lines).toContain('Score              ├─────────┼────●──────────────┤  ±4')
  expect(lines.at(-2)).toBe('New: About New.')
})
