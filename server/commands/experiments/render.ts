import type { Schemas } from '../../../client/src/earshot.ts'
import type { Paint } from '../colour.ts'
import { columns, day, plain } from '../columns.ts'

/** Renders an experiment for a terminal: its arms, its outcomes, and a plot of their differences. */

type Experiment = Schemas['Experiment']
type Outcome = Schemas['OutcomeResult']
type Interval = { low: number; high: number }

const plotWidth = 41

const numberOf = (value: number, { kind }: Outcome): string =>
  kind === 'boolean' ? `${(value * 100).toFixed(1)}%` : value.toPrecision(4).replace(/\.?0+$/, '')

const signed = (value: number, { kind }: Outcome): string => {
  const digits =
    kind === 'boolean' ? (Math.abs(value) * 100).toFixed(1) : String(Number(Math.abs(value).toPrecision(3)))
  return `${value < 0 ? '−' : '+'}${digits}`
}

const differenceOf = (outcome: Outcome): string => {
  const { estimate, anytime } = outcome.difference
  if (estimate === null) return '–'
  const unit = outcome.kind === 'boolean' ? ' pp' : ''
  const { interval } = anytime
  if (interval === null) return `${signed(estimate, outcome)}${unit}`
  return `${signed(estimate, outcome)}${unit} [${signed(interval.low, outcome)}, ${signed(interval.high, outcome)}]`
}

const armOf = (outcome: Outcome, arm: 'a' | 'b'): string => {
  const { mean } = outcome.arms[arm]
  return mean === null ? '–' : numberOf(mean, outcome)
}

const verdicts: Record<Schemas['Verdict']['verdict'], { told: string; as: Parameters<Paint>[1] }> = {
  not_trustworthy: { told: 'not trustworthy', as: 'red' },
  too_early: { told: 'too early', as: 'dim' },
  no_difference_shown: { told: 'no clear difference', as: 'dim' },
  b_higher: { told: 'B is higher', as: 'green' },
  b_lower: { told: 'B is lower', as: 'yellow' },
}

const placeOf = (value: number, reach: number): number => {
  const share = (Math.max(-reach, Math.min(reach, value)) + reach) / (2 * reach)
  return Math.round(share * (plotWidth - 1))
}

/** Draws `├──●──┤` on a line with zero in the middle. */
const lineOf = (estimate: number, interval: Interval | null, reach: number): string => {
  const line = Array.from({ length: plotWidth }, () => ' ')
  line[(plotWidth - 1) / 2] = '│'
  if (interval) {
    const [low, high] = [placeOf(interval.low, reach), placeOf(interval.high, reach)]
    line.fill('─', low, high + 1)
    line[low] = '├'
    line[high] = '┤'
    const middle = (plotWidth - 1) / 2
    if (low < middle && middle < high) line[middle] = '┼'
  }
  line[placeOf(estimate, reach)] = '●'
  return line.join('')
}

const reachOf = ({ difference: { estimate, anytime } }: Outcome): number =>
  Math.max(Math.abs(estimate ?? 0), Math.abs(anytime.interval?.low ?? 0), Math.abs(anytime.interval?.high ?? 0))

/** Plots the differences. Rates share one scale, and every other outcome has its own. */
const plot = (outcomes: Outcome[], paint: Paint): string => {
  const drawn = outcomes.filter(({ difference }) => difference.estimate !== null)
  if (drawn.length === 0) return ''
  const ofShares = Math.max(0, ...drawn.filter(({ kind }) => kind === 'boolean').map(reachOf))
  const rows = drawn.map((outcome) => {
    const { estimate, anytime } = outcome.difference
    const reach = (outcome.kind === 'boolean' ? ofShares : reachOf(outcome)) || 1
    const end = `${signed(reach, outcome)}${outcome.kind === 'boolean' ? ' pp' : ''}`
    const line = lineOf(estimate ?? 0, anytime.interval, reach)
    return [plain(outcome.name), paint(line, verdicts[outcome.verdict.verdict].as), `±${end.slice(1)}`]
  })
  const middle = (plotWidth - 1) / 2
  const axis = `${'A higher'.padEnd(middle)}0${'B higher'.padStart(middle)}`
  return `\n${paint('B − A, with always-valid intervals', 'bold')}\n${columns([['', axis, ''], ...rows])}`
}

export const tellExperiment = (experiment: Experiment, paint: Paint): string => {
  const { name, status, startedAt, finishedAt, outcomes, health, armAName, armBName } = experiment
  const [a, b] = [armAName ? `A: ${plain(armAName)}` : 'A', armBName ? `B: ${plain(armBName)}` : 'B']
  const time = finishedAt === null ? `since ${day(startedAt)}` : `${day(startedAt)} to ${day(finishedAt)}`
  const arms = columns(
    [
      ['', 'CONVERSATIONS', 'UNITS'],
      [a, String(health.conversations.a), String(health.sampleRatio.units.a)],
      [b, String(health.conversations.b), String(health.sampleRatio.units.b)],
    ],
    [1, 2],
  )
  const table = columns(
    [
      ['OUTCOME', 'A', 'B', 'B − A', 'VERDICT'],
      ...outcomes.map((outcome) => {
        const { told, as } = verdicts[outcome.verdict.verdict]
        const shown = `${plain(outcome.name)}${outcome.primary ? ' *' : ''}`
        return [shown, armOf(outcome, 'a'), armOf(outcome, 'b'), differenceOf(outcome), paint(told, as)]
      }),
    ],
    [1, 2],
  )
  const concerns = health.concerns.map((concern) => paint(`! ${concern.replaceAll('_', ' ')}\n`, 'red')).join('')
  const texts = outcomes.map(({ name: outcome, verdict }) => `${plain(outcome)}: ${verdict.text}\n`).join('')
  return [
    `${paint(plain(name), 'bold')}  ${status}, ${time}\n`,
    concerns,
    `\n${arms}\n${table}* primary outcome\n`,
    plot(outcomes, paint),
    `\n${texts}`,
  ].join('')
}
