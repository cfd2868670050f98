// Measures how often an alignment claims a gain that does not exist, how often it finds gains of several sizes, and how
// long its figures take. The data is seeded, and the proposals and tests are the product's.

import { proposeCalibration, proposeThreshold } from '../server/alignments/proposals/score.ts'
import type { AlignmentCase, AlignmentResult, ProposalKind } from '../server/alignments/queries.ts'
import { measureProposals } from '../server/alignments/report.ts'
import type { ScoreOutput } from '../server/monitors/judges/definition.ts'
import { share } from '../server/statistics/agreement.ts'
import { normal, seeded, type UniformRandom } from '../test/support/spikes/random-hours.ts'
import { failedCount, judge, print } from './report.ts'

const simulations = 1_000

const outputWith = (threshold: number): ScoreOutput => ({
  type: 'score',
  min: 0,
  max: 10,
  affectedWhen: { op: 'gte', value: threshold },
})

type World = {
  /** The conversations of each half. */
  size: number
  /** The share of affected conversations. */
  rate: number
  /** The distance of affected conversations' scores from the others, in standard deviations. */
  distance: number
  /** The current threshold, relative to the best one. */
  shift: number
  /** The gain in accuracy of the model's proposals over the current version. */
  gain: number
  /** The share of conversations with results that they change, beyond the gain. */
  noise: number
}

const center = 5
const deviation = 1.5

/** Returns the best possible threshold: from this score on, a conversation is more likely affected than not. */
const bestThreshold = ({ rate, distance }: World): number =>
  center + (deviation * Math.log((1 - rate) / rate)) / distance

type Simulated = { cases: AlignmentCase[]; results: AlignmentResult[] }

const resultOf = (
  kind: string,
  conversationId: string,
  isAffected: boolean,
  score: number | null,
): AlignmentResult => ({
  kind,
  conversationId,
  status: 'scored',
  result: isAffected ? 'affected' : 'not_affected',
  score,
  isQuoted: true,
  quotedTurn: null,
})

/**
 * Returns whether the model's proposal is right. On average, its accuracy exceeds the current version's by the gain.
 */
const isRightAfter = (random: UniformRandom, wasRight: boolean, right: number, { gain, noise }: World): boolean => {
  const [fixes, breaks] = [(noise + gain) / Math.max(1 - right, 1e-9), noise / right]
  return wasRight ? random() >= breaks : random() < fixes
}

/** Simulates an alignment, with results for two of the model's proposals. */
const simulate = (random: UniformRandom, world: World): Simulated => {
  const threshold = bestThreshold(world) + world.shift
  const cases: AlignmentCase[] = []
  const results: AlignmentResult[] = []
  const drawn = Array.from({ length: world.size * 2 }, (_, at) => {
    const isAffected = random() < world.rate
    const score = center + deviation * (normal(random) + (isAffected ? 0.5 : -0.5) * world.distance)
    return { id: String(at), half: at % 2 === 0 ? ('tuning' as const) : ('test' as const), isAffected, score }
  })
  const right = drawn.filter(({ isAffected, score }) => score >= threshold === isAffected).length / drawn.length
  for (const { id, half, isAffected, score } of drawn) {
    const verdict = isAffected ? 'affected' : 'not_affected'
    cases.push({ conversationId: id, half, verdict, reviewId: id, votes: [verdict] })
    results.push(resultOf('baseline', id, score >= threshold, score))
    if (half === 'tuning') continue
    for (const kind of ['examples', 'guidelines']) {
      const isRight = isRightAfter(random, score >= threshold === isAffected, right, world)
      results.push(resultOf(kind, id, isRight === isAffected, null))
    }
  }
  return { cases, results }
}

type Proposed = { kind: ProposalKind; definition: Record<string, unknown> | null }

const definitionOf = (output: ScoreOutput | undefined) => (output ? { criteria: '', output } : null)

/** Makes all proposals from the tuning half, and tests them together. */
const align = ({ cases, results }: Simulated, world: World) => {
  const output = outputWith(bestThreshold(world) + world.shift)
  const before = new Map(results.filter(({ kind }) => kind === 'baseline').map((one) => [one.conversationId, one]))
  const tuning = cases.flatMap(({ conversationId, half, verdict }) => {
    const result = before.get(conversationId)
    return half === 'tuning' && result ? [{ truth: verdict, result }] : []
  })
  const proposals: Proposed[] = [
    { kind: 'threshold', definition: definitionOf(proposeThreshold(output, tuning)) },
    { kind: 'calibration', definition: definitionOf(proposeCalibration(output, tuning)) },
    { kind: 'examples', definition: definitionOf(output) },
    { kind: 'guidelines', definition: definitionOf(output) },
  ]
  return measureProposals({ cases, results }, proposals)
}

const percent = (value = 0): string => `${(100 * value).toFixed(1)}%`

const estimateOf = (some: number): string => {
  const { value, low, high } = share(some, simulations) ?? { value: 0, low: 0, high: 0 }
  return `${percent(value)} (${percent(low)} to ${percent(high)})`
}

const ordinary: World = { size: 100, rate: 0.35, distance: 1.6, shift: 0, gain: 0, noise: 0.06 }

/** Counts the simulations in which a proposal claims a gain. */
const countClaims = (world: World, kinds?: ProposalKind[]): number => {
  let claims = 0
  for (let at = 0; at < simulations; at++) {
    const found = align(simulate(seeded(at + 1), world), world)
    if (found.some(({ kind, measured }) => (kinds?.includes(kind) ?? true) && measured.isShown)) claims++
  }
  return claims
}

const nulls: [name: string, world: World][] = [
  ['20 in each half', { ...ordinary, size: 20, noise: 0.1 }],
  ['50 in each half', { ...ordinary, size: 50, noise: 0.1 }],
  ['100 in each half', ordinary],
  ['200 in each half', { ...ordinary, size: 200 }],
  ['500 in each half', { ...ordinary, size: 500 }],
  ['200, results change often', { ...ordinary, size: 200, noise: 0.15 }],
  ['200, few are affected', { ...ordinary, size: 200, rate: 0.08, noise: 0.03 }],
  ['200, scores say nothing', { ...ordinary, size: 200, rate: 0.5, distance: 0.001, noise: 0.15 }],
]

print(`Claims without a gain: the threshold is the best one, and the model's proposals change results at random.`)
print(`${simulations.toLocaleString('en')} simulations each, four proposals in each:\n`)
for (const [name, world] of nulls) {
  const claims = countClaims(world)
  print(`${name}: ${estimateOf(claims)}`)
  judge('simulations with any claim', (100 * claims) / simulations, { atMost: 5 }, '%')
}

print('\nGains that are found: of the model’s proposals, by their size and the conversations in the test half')
print('(6% of results change beyond the gain; both proposals have it):')
const sizes = [50, 100, 200, 500]
print(`| gain | ${sizes.join(' | ')} |`)
print(`|---|${sizes.map(() => '---').join('|')}|`)
const gains = [0.03, 0.05, 0.1, 0.15]
const powers = new Map<string, number>()
for (const gain of gains) {
  const cells = sizes.map((size) => {
    const claims = countClaims({ ...ordinary, size, gain }, ['examples', 'guidelines'])
    powers.set(`${gain} ${size}`, claims / simulations)
    return estimateOf(claims)
  })
  print(`| ${100 * gain} points | ${cells.join(' | ')} |`)
}
judge('10 points, found with 200 conversations', 100 * (powers.get('0.1 200') ?? 0), { atLeast: 80 }, '%')
judge('5 points, found with 500 conversations', 100 * (powers.get('0.05 500') ?? 0), { atLeast: 50 }, '%')

print(
  '\nA threshold that is too high, found by the threshold or the calibration (the model’s proposals change nothing):',
)
const shifts = [1, 1.5, 2, 3]
print(`| too high by | mean gain of the threshold | ${sizes.join(' | ')} |`)
print(`|---|---|${sizes.map(() => '---').join('|')}|`)
for (const shift of shifts) {
  const world = { ...ordinary, shift, noise: 0 }
  let [total, count] = [0, 0]
  for (let at = 0; at < 200; at++) {
    const large = { ...world, size: 500 }
    const found = align(simulate(seeded(at + 1), large), large).find(({ kind }) => kind === 'threshold')
    if (!found) continue
    total += found.measured.gain.value
    count++
  }
  const cells = sizes.map((size) => {
    const claims = countClaims({ ...world, size }, ['threshold', 'calibration'])
    powers.set(`shift ${shift} ${size}`, claims / simulations)
    return estimateOf(claims)
  })
  print(`| ${shift} | ${(100 * (total / Math.max(1, count))).toFixed(1)} points | ${cells.join(' | ')} |`)
}
judge('too high by 3, found with 200 conversations', 100 * (powers.get('shift 3 200') ?? 0), { atLeast: 80 }, '%')

print('\nTime of all figures of one alignment, median of 50:')
for (const size of [50, 200, 1_000]) {
  const world = { ...ordinary, size, shift: 1 }
  const times = Array.from({ length: 50 }, (_, at) => {
    const simulated = simulate(seeded(at + 1), world)
    const startedAt = performance.now()
    align(simulated, world)
    return performance.now() - startedAt
  }).sort((a, b) => a - b)
  print(`  ${size} conversations in each half: ${times[25]?.toFixed(1)} ms`)
}
if (failedCount() > 0) process.exitCode = 1
