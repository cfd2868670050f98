import type { Interval } from '../statistics/interval.ts'
import type { AlertCondition, ConditionOf } from './condition-schema.ts'
import type { Reading } from './conditions/read-condition.ts'

/** Describes the measurement of a check in one sentence. */

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`
const whole = (count: number): string => count.toLocaleString('en')
const conversations = (count: number): string => `${whole(count)} conversation${count === 1 ? '' : 's'}`

const percentRange = ({ low, high }: Interval): string => `${percent(low).slice(0, -1)}–${percent(high)}`

const periods = [
  { unit: 'day', minutes: 1_440 },
  { unit: 'hour', minutes: 60 },
  { unit: 'minute', minutes: 1 },
]

/** Formats a duration in the largest unit that gives a whole number. */
const spellMinutes = (minutes: number): string => {
  const { unit, minutes: length } = periods.find((period) => minutes % period.minutes === 0) ?? {
    unit: 'minute',
    minutes: 1,
  }
  const count = minutes / length
  return `${whole(count)} ${unit}${count === 1 ? '' : 's'}`
}

export const spellLast = (minutes: number): string => `last ${spellMinutes(minutes).replace(/^1 /, '')}`
const inTheLast = (minutes: number): string => `in the ${spellLast(minutes)}`

const shareText = ({ value, interval, sample }: Reading, category: string | undefined): string => {
  const range = interval === null ? '' : `${percentRange(interval)}, `
  const what = category === undefined ? 'were affected' : `have the category ${category}`
  return `${percent(value ?? 0)} of conversations ${what} (${range}n = ${whole(sample ?? 0)})`
}

const rounded = (value: number | null): number => Math.round((value ?? 0) * 1_000) / 1_000

const units: Record<string, (value: number) => string> = {
  durationSeconds: (value) => `${whole(Math.round(value))} s`,
  deadAirShare: percent,
  talkRatio: percent,
}

const inUnits = (measure: string, value: number): string => {
  const spell = units[measure]
  if (spell) return spell(value)
  if (/Ms(\.|$)/.test(measure)) return `${whole(Math.round(value))} ms`
  const rounded = String(Math.round(value * 100) / 100)
  return /Db(\.|$)/.test(measure) ? `${rounded} dB` : rounded
}

const statistics = { mean: 'mean', p50: 'median', p95: '95th percentile', p99: '99th percentile' } as const

const sources: Record<ConditionOf<'failures'>['source'], string> = {
  judges: 'failed evaluations',
  webhooks: 'failed webhook deliveries',
  destinations: 'failed messages to destinations',
  sync: 'failed syncs',
  schedules: 'failed scheduled exports',
  jobs: 'failed jobs',
}

const changeText = (
  { comparedTo, category, field }: ConditionOf<'change'>,
  windowMinutes: number,
  reading: Reading,
): string => {
  const than = comparedTo === 'same_weekday' ? 'the same time a week earlier' : 'the period before'
  const measured =
    field === undefined
      ? shareText(reading, category)
      : `The median of ${field} was ${rounded(reading.value)} (n = ${whole(reading.sample ?? 0)})`
  return `${measured} in a period of ${spellMinutes(windowMinutes)}, a clear change from ${than}`
}

/** Describes the value of a signal or a sound measure. */
const measureText = (
  condition: ConditionOf<'signal'> | ConditionOf<'sound'>,
  { value, sample }: Reading,
  within: string,
): string => {
  const { statistic, direction, threshold } = condition
  const [measure, name] =
    condition.kind === 'signal' ? [condition.signal, condition.signal] : [condition.name, `sound ${condition.name}`]
  const shown = inUnits(measure, value ?? 0)
  const limit = inUnits(measure, threshold)
  return `The ${statistics[statistic]} of ${name} was ${shown} (n = ${whole(sample ?? 0)}), ${direction} ${limit}, ${within}`
}

type About = { condition: AlertCondition; windowMinutes: number }

const textOf = ({ condition, windowMinutes }: About, reading: Reading): string => {
  const { value, sample, label } = reading
  const within = inTheLast(windowMinutes)
  switch (condition.kind) {
    case 'rate':
    case 'category': {
      const category = condition.kind === 'category' ? condition.category : undefined
      return `${shareText(reading, category)}, ${condition.direction} ${percent(condition.threshold)}, ${within}`
    }
    case 'change':
      return changeText(condition, windowMinutes, reading)
    case 'score':
    case 'field': {
      const { statistic, direction, threshold } = condition
      const name =
        condition.kind === 'score' ? `${statistics[statistic]} score` : `${statistics[statistic]} of ${condition.field}`
      return `The ${name} was ${rounded(value)} (n = ${whole(sample ?? 0)}), ${direction} ${threshold}, ${within}`
    }
    case 'signal':
    case 'sound':
      return measureText(condition, reading, within)
    case 'volume':
      return `${conversations(value ?? 0)} started ${within}, ${condition.direction} ${whole(condition.threshold)}`
    case 'no_data':
      return `No conversation for ${spellMinutes(value ?? condition.forMinutes)}`
    case 'failures':
      return `${whole(value ?? 0)} ${sources[condition.source]} ${within}`
    case 'judge_budget':
      return `Judges have spent ${percent(value ?? 0)} of this month’s budget`
    case 'spike':
      return `The rate of “${label}” is unusually high`
    case 'finding':
      return `Finding: ${label}`
    case 'experiment_health':
      return `The routing of “${label}” looks wrong`
  }
}

export const describeReading = (about: About, reading: Reading): string => `${textOf(about, reading)}.`
