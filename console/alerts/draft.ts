import { soundLabel } from '../conversations/sound-names.ts'
import { formatNumber, formatPercent, plural } from '../lib/format.ts'
import type { AlertCondition, Rule } from './queries.ts'
import type { NewRuleSearch } from './search.ts'

/** Defines the values of the rule form. What people type is text. */

export type Kind = AlertCondition['kind']
type Of<K extends Kind> = Extract<AlertCondition, { kind: K }>

export type Draft = {
  name: string
  kind: Kind
  monitorId: string | null
  category: string
  field: string
  /** The type of value that a change compares. */
  compared: 'rate' | 'category' | 'field'
  direction: 'above' | 'below'
  change: Of<'change'>['direction']
  comparedTo: NonNullable<Of<'change'>['comparedTo']>
  statistic: Of<'score'>['statistic']
  signal: Of<'signal'>['signal']
  sound: Of<'sound'>['name']
  /** The unit is percent for rates and the budget, and otherwise that of the measure. */
  threshold: string
  certainty: 'interval' | 'point'
  falseAlarmsPerYear: string
  forMinutes: string
  source: Of<'failures'>['source']
  events: Of<'finding'>['events']
  minPriority: 'none' | NonNullable<Of<'finding'>['minPriority']>
  severity: Rule['severity']
  filter: NonNullable<Rule['filter']>
  groupBy: NonNullable<Rule['groupBy']> | 'none'
  windowMinutes: string
  minimumSample: string
  destinationIds: string[]
  ownerUserId: string | null
  repeatEveryMinutes: string
  runbookUrl: string
}

const fresh: Draft = {
  name: '',
  kind: 'rate',
  monitorId: null,
  category: '',
  field: '',
  compared: 'rate',
  direction: 'above',
  change: 'up',
  comparedTo: 'previous_period',
  statistic: 'p95',
  signal: 'responseLatencyMs.p95',
  sound: 'responseMs.agent.p95',
  threshold: '20',
  certainty: 'interval',
  falseAlarmsPerYear: '2',
  forMinutes: '60',
  source: 'judges',
  events: ['created', 'reopened'],
  minPriority: 'high',
  severity: 'warning',
  filter: {},
  groupBy: 'none',
  windowMinutes: '60',
  minimumSample: '30',
  destinationIds: [],
  ownerUserId: null,
  repeatEveryMinutes: '',
  runbookUrl: '',
}

const conditionDraft = (condition: AlertCondition): Partial<Draft> => {
  const { kind } = condition
  switch (condition.kind) {
    case 'rate':
    case 'category': {
      const { monitorId, direction, threshold, certainty = 'interval' } = condition
      const category = condition.kind === 'category' ? condition.category : ''
      return {
        kind,
        monitorId,
        category,
        direction,
        certainty,
        threshold: String(Math.round(threshold * 10_000) / 100),
      }
    }
    case 'score':
    case 'field': {
      const { monitorId, direction, statistic, threshold } = condition
      const field = condition.kind === 'field' ? condition.field : ''
      return { kind, monitorId, field, direction, statistic, threshold: String(threshold) }
    }
    case 'signal': {
      const { signal, direction, statistic, threshold } = condition
      return { kind, signal, direction, statistic, threshold: String(threshold) }
    }
    case 'sound': {
      const { name, direction, statistic, threshold } = condition
      return { kind, sound: name, direction, statistic, threshold: String(threshold) }
    }
    case 'change': {
      const { monitorId, direction, falseAlarmsPerYear, comparedTo = 'previous_period' } = condition
      const { category = '', field = '' } = condition
      const compared = category !== '' ? 'category' : field !== '' ? 'field' : 'rate'
      const change = { change: direction, comparedTo, falseAlarmsPerYear: String(falseAlarmsPerYear) }
      return { kind, monitorId, category, field, compared, ...change }
    }
    case 'spike':
      return { kind, monitorId: condition.monitorId ?? null }
    case 'volume':
      return { kind, direction: condition.direction, threshold: String(condition.threshold) }
    case 'no_data':
      return { kind, forMinutes: String(condition.forMinutes) }
    case 'failures':
      return { kind, source: condition.source, threshold: String(condition.threshold) }
    case 'judge_budget':
      return { kind, threshold: String(condition.percent) }
    case 'finding':
      return { kind, events: condition.events, minPriority: condition.minPriority ?? 'none' }
    default:
      return { kind }
  }
}

export const startOf = (rule: Rule | undefined, about: NewRuleSearch = {}): Draft => {
  if (!rule) {
    // A rule has its own window.
    const { since: _since, until: _until, period: _period, ...filter } = about.filter ?? {}
    return { ...fresh, monitorId: about.monitorId ?? null, filter }
  }
  const { name, severity, filter, groupBy, windowMinutes, minimumSample, destinationIds, ownerUserId } = rule
  return {
    ...fresh,
    ...conditionDraft(rule.condition),
    name,
    severity,
    filter: filter ?? {},
    groupBy: groupBy ?? 'none',
    windowMinutes: String(windowMinutes),
    minimumSample: String(minimumSample),
    destinationIds,
    ownerUserId,
    repeatEveryMinutes: rule.repeatEveryMinutes === null ? '' : String(rule.repeatEveryMinutes),
    runbookUrl: rule.runbookUrl ?? '',
  }
}

/**
 * Returns whether a kind of condition counts conversations. These kinds take a filter and groups, and can be previewed.
 */
export const counts = (kind: Kind): boolean => hasSample(kind) || ['volume', 'no_data'].includes(kind)

/** Returns whether a kind of condition measures a window. */
export const hasWindow = (kind: Kind): boolean => hasSample(kind) || ['volume', 'failures'].includes(kind)

export const hasSample = (kind: Kind): boolean => needsMonitor(kind) || kind === 'signal' || kind === 'sound'

export const needsMonitor = (kind: Kind): boolean => ['rate', 'score', 'category', 'field', 'change'].includes(kind)

/** Returns whether a category or field is measured. */
export const outputOf = ({ kind, compared }: Pick<Draft, 'kind' | 'compared'>): 'category' | 'field' | undefined => {
  const measured = kind === 'change' ? compared : kind
  return measured === 'category' || measured === 'field' ? measured : undefined
}

const conditionOf = (draft: Draft): AlertCondition => {
  const { kind, direction, statistic } = draft
  const monitorId = draft.monitorId ?? ''
  const threshold = Number(draft.threshold)
  switch (kind) {
    case 'rate':
      return { kind, monitorId, direction, threshold: threshold / 100, certainty: draft.certainty }
    case 'category':
      return {
        kind,
        monitorId,
        category: draft.category.trim(),
        direction,
        threshold: threshold / 100,
        certainty: draft.certainty,
      }
    case 'score':
      return { kind, monitorId, statistic, direction, threshold }
    case 'field':
      return { kind, monitorId, field: draft.field.trim(), statistic, direction, threshold }
    case 'signal':
      return { kind, signal: draft.signal, statistic, direction, threshold }
    case 'sound':
      return { kind, name: draft.sound, statistic, direction, threshold }
    case 'change': {
      const { change, comparedTo, falseAlarmsPerYear } = draft
      const output = outputOf(draft)
      return {
        kind,
        monitorId,
        ...(output && { [output]: draft[output].trim() }),
        direction: change,
        comparedTo,
        falseAlarmsPerYear: Number(falseAlarmsPerYear),
      }
    }
    case 'spike':
      return { kind, ...(draft.monitorId !== null && { monitorId: draft.monitorId }) }
    case 'volume':
      return { kind, direction, threshold }
    case 'no_data':
      return { kind, forMinutes: Number(draft.forMinutes) }
    case 'failures':
      return { kind, source: draft.source, threshold }
    case 'judge_budget':
      return { kind, percent: threshold }
    case 'finding': {
      const { events, minPriority } = draft
      return { kind, events, ...(minPriority !== 'none' && { minPriority }) }
    }
    default:
      return { kind }
  }
}

const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))

const usesThreshold = (kind: Kind): boolean =>
  ['rate', 'score', 'category', 'field', 'signal', 'sound', 'volume', 'failures', 'judge_budget'].includes(kind)

const lackOf = (draft: Draft): string | undefined => {
  const { kind } = draft
  if (draft.name.trim() === '') return 'Enter a name.'
  if (needsMonitor(kind) && draft.monitorId === null) return 'Choose a monitor.'
  const output = outputOf(draft)
  if (output && draft[output].trim() === '') return `Choose a ${output}.`
  if (usesThreshold(kind) && !isNumber(draft.threshold)) return 'Enter a threshold.'
  if (kind === 'no_data' && !isNumber(draft.forMinutes))
    return 'Enter how long no conversation may arrive before the rule fires.'
  if (kind === 'change' && !isNumber(draft.falseAlarmsPerYear)) return 'Enter how many false alarms you accept.'
  if (kind === 'finding' && draft.events.length === 0) return 'Choose at least one event.'
  return undefined
}

/** Returns the request of a complete draft, or a message that names the missing input. */
export const readDraft = (draft: Draft) => {
  const lacks = lackOf(draft)
  if (lacks) return { lacks }
  const { kind, filter, groupBy, repeatEveryMinutes, runbookUrl } = draft
  const isCounting = counts(kind)
  return {
    body: {
      name: draft.name.trim(),
      severity: draft.severity,
      condition: conditionOf(draft),
      filter: isCounting && Object.keys(filter).length > 0 ? filter : null,
      groupBy: isCounting && groupBy !== 'none' ? groupBy : null,
      windowMinutes: Number(draft.windowMinutes),
      minimumSample: Number(draft.minimumSample),
      destinationIds: draft.destinationIds,
      ownerUserId: draft.ownerUserId,
      repeatEveryMinutes: isNumber(repeatEveryMinutes) ? Number(repeatEveryMinutes) : null,
      runbookUrl: runbookUrl.trim() === '' ? null : runbookUrl.trim(),
    },
  }
}

export const signalNames: Record<Of<'signal'>['signal'], string> = {
  durationSeconds: 'Duration (s)',
  firstWordMs: 'Time to first word (ms)',
  'responseLatencyMs.p50': 'Response time, median (ms)',
  'responseLatencyMs.p95': 'Response time, 95th percentile (ms)',
  'responseLatencyMs.max': 'Response time, longest (ms)',
  longestSilenceMs: 'Longest silence (ms)',
  deadAirShare: 'Dead air (share)',
  overlapMs: 'Overlap (ms)',
  talkRatio: 'Agent talk ratio (share)',
  'interruptions.byAgent': 'Interruptions by the agent',
  'interruptions.byCustomer': 'Interruptions by the customer',
  toolCalls: 'Tool calls',
  toolFailures: 'Failed tool calls',
}

export const statisticNames = { mean: 'Mean', p50: 'Median', p95: '95th percentile', p99: '99th percentile' } as const

export const sourceNames: Record<Of<'failures'>['source'], string> = {
  judges: 'Evaluations',
  webhooks: 'Webhook deliveries',
  destinations: 'Messages to destinations',
  sync: 'Provider syncs',
  schedules: 'Scheduled exports',
  jobs: 'Background jobs',
}

const spans = [
  { unit: 'day', minutes: 1_440 },
  { unit: 'hour', minutes: 60 },
  { unit: 'minute', minutes: 1 },
]

export const spanWords = (minutes: number): string => {
  const { unit, minutes: length } = spans.find((span) => minutes % span.minutes === 0) ?? { unit: 'minute', minutes: 1 }
  return plural(minutes / length, unit)
}

/** Describes a condition in a few words. */
export const conditionWords = (condition: AlertCondition, nameOf: (monitorId: string) => string): string => {
  switch (condition.kind) {
    case 'category': {
      const { monitorId, category, direction, threshold } = condition
      return `${nameOf(monitorId)}: share of ${category} ${direction} ${formatPercent(threshold)}`
    }
    case 'field': {
      const { monitorId, field, statistic, direction, threshold } = condition
      return `${nameOf(monitorId)}: ${statisticNames[statistic].toLowerCase()} of ${field} ${direction} ${formatNumber(threshold)}`
    }
    case 'rate':
      return `${nameOf(condition.monitorId)}: rate ${condition.direction} ${formatPercent(condition.threshold)}`
    case 'score': {
      const { monitorId, statistic, direction, threshold } = condition
      return `${nameOf(monitorId)}: ${statisticNames[statistic].toLowerCase()} score ${direction} ${formatNumber(threshold)}`
    }
    case 'change': {
      const directions = { up: 'goes up', down: 'goes down', either: 'changes' }
      const measured = condition.category === undefined ? (condition.field ?? 'rate') : `share of ${condition.category}`
      return `${nameOf(condition.monitorId)}: ${measured} ${directions[condition.direction]}`
    }
    case 'spike':
      return condition.monitorId === undefined ? 'Any monitor spikes' : `${nameOf(condition.monitorId)} spikes`
    case 'signal': {
      const { signal, statistic, direction, threshold } = condition
      return `${signalNames[signal]}: ${statisticNames[statistic].toLowerCase()} ${direction} ${formatNumber(threshold)}`
    }
    case 'sound': {
      const { name, statistic, direction, threshold } = condition
      return `${soundLabel(name)}: ${statisticNames[statistic].toLowerCase()} ${direction} ${formatNumber(threshold)}`
    }
    case 'volume':
      return `Conversations ${condition.direction} ${formatNumber(condition.threshold)}`
    case 'no_data':
      return `No conversations for ${spanWords(condition.forMinutes)}`
    case 'failures':
      return `${sourceNames[condition.source]}: ${plural(condition.threshold, 'failure')} or more`
    case 'judge_budget':
      return `Judge budget: ${condition.percent}% spent`
    case 'finding':
      return `Finding ${condition.events.join(' or ')}${condition.minPriority ? `, ${condition.minPriority} or higher` : ''}`
    case 'experiment_health':
      return 'An experiment’s routing looks wrong'
  }
}
