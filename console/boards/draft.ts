// Converts a chart between form fields and the API's format.

import { signalLabel } from '../conversations/signal-names.ts'
import { soundLabel } from '../conversations/sound-names.ts'
import type { Filter } from '../filters/filter.ts'
import { withoutTime } from '../filters/range.ts'
import type { Option } from '../ui/controls.tsx'
import type { Chart, ChartInput, Measure, Query } from './queries.ts'
import { dimensionName, groupsOf } from './values.ts'

export type Kind = Chart['kind']
export type Interval = NonNullable<Query['interval']>
export type Statistic = 'mean' | 'sum' | 'p50' | 'p90' | 'p95' | 'p99'

export type Draft = {
  title: string
  kind: Kind
  width: Chart['width']
  measure: Measure['kind']
  monitorId: string | null
  signal: string
  sound: string
  metric: string
  /** Empty if each category has its own group. */
  category: string
  field: string
  statistic: Statistic
  /** Empty if there is no group. */
  groupBy: [string, string]
  interval: Interval | ''
  filter: Filter
}

export const kindNames: { value: Kind; label: string }[] = [
  { value: 'line', label: 'Line' },
  { value: 'bar', label: 'Bars' },
  { value: 'heatmap', label: 'Heat map' },
  { value: 'table', label: 'Table' },
  { value: 'number', label: 'Number' },
]

export const measureNames: { value: Measure['kind']; label: string }[] = [
  { value: 'volume', label: 'Conversations' },
  { value: 'rate', label: 'Affected rate' },
  { value: 'score', label: 'Monitor score' },
  { value: 'signal', label: 'Signal' },
  { value: 'sound', label: 'Recording measure' },
  { value: 'metric', label: 'Customer metric' },
  { value: 'duration', label: 'Duration' },
  { value: 'delay', label: 'Ingestion delay' },
  { value: 'cost', label: 'Judge cost' },
  { value: 'latency', label: 'Judge response time' },
  { value: 'agreement', label: 'Agreement with reviewers' },
  { value: 'category', label: 'Monitor categories' },
  { value: 'field', label: 'Monitor field' },
]

export const statisticNames: { value: Statistic; label: string }[] = [
  { value: 'mean', label: 'Mean' },
  { value: 'p50', label: 'Median' },
  { value: 'p90', label: '90th percentile' },
  { value: 'p95', label: '95th percentile' },
  { value: 'p99', label: '99th percentile' },
  { value: 'sum', label: 'Sum' },
]

const dimensions = [
  'agent',
  'version',
  'company',
  'channel',
  'direction',
  'endReason',
  'provider',
  'topic',
  'weekday',
  'hourOfDay',
] as const

/** Returns the dimensions by which charts can be grouped. */
export const dimensionOptions = (metadataKeys: string[], monitors: Option[]): Option[] => [
  ...dimensions.map((value) => ({ value, label: sentence(dimensionName(value)) })),
  ...monitors.map(({ value, label }) => ({ value: `category:${value}`, label: `Category: ${label}` })),
  ...metadataKeys.map((key) => ({ value: `metadata:${key}`, label: `Metadata: ${key}` })),
]

export const intervalNames: { value: Interval; label: string }[] = [
  { value: 'hour', label: 'By hour' },
  { value: 'day', label: 'By day' },
  { value: 'week', label: 'By week' },
  { value: 'month', label: 'By month' },
]

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

export const isOfMonitor = (measure: Measure['kind']): boolean =>
  ['rate', 'score', 'agreement', 'category', 'field'].includes(measure)
export const hasStatistic = (measure: Measure['kind']): boolean =>
  !['volume', 'rate', 'agreement', 'category'].includes(measure)
/** Returns whether values are shown over time. */
export const mayHaveInterval = (kind: Kind): boolean => kind === 'line' || kind === 'bar'
export const mayHaveGroups = (kind: Kind): boolean => kind !== 'number'

const empty: Draft = {
  title: '',
  kind: 'line',
  width: 'half',
  measure: 'volume',
  monitorId: null,
  signal: 'responseLatencyMs.p95',
  sound: 'responseMs.agent.p95',
  metric: '',
  category: '',
  field: '',
  statistic: 'mean',
  groupBy: ['', ''],
  interval: 'day',
  filter: {},
}

/** Starts with a stored chart, or with a new one. */
export const startDraft = (chart?: Chart): Draft => {
  if (!chart) return empty
  const { title, kind, width, query } = chart
  const { measure, groupBy = [], interval, filter = {} } = query
  return {
    ...empty,
    title,
    kind,
    width,
    measure: measure.kind,
    monitorId: 'monitorId' in measure ? (measure.monitorId ?? null) : null,
    signal: 'signal' in measure ? measure.signal : empty.signal,
    sound: measure.kind === 'sound' ? measure.name : empty.sound,
    metric: 'key' in measure ? measure.key : '',
    category: measure.kind === 'category' ? (measure.category ?? '') : '',
    field: measure.kind === 'field' ? measure.field : '',
    statistic: 'statistic' in measure ? measure.statistic : empty.statistic,
    groupBy: [groupBy[0] ?? '', groupBy[1] ?? ''],
    interval: interval ?? '',
    filter,
  }
}

type Read = Measure | { lacks: string }

const noMonitor = { lacks: 'Choose a monitor.' }

const readCategory = ({ monitorId, category, kind }: Draft): Read => {
  if (monitorId === null) return noMonitor
  if (category.trim() !== '') return { kind: 'category', monitorId, category: category.trim() }
  return kind === 'number' ? { lacks: 'To show a number, choose a category.' } : { kind: 'category', monitorId }
}

const readField = ({ monitorId, field, statistic }: Draft): Read => {
  if (monitorId === null) return noMonitor
  return field.trim() === ''
    ? { lacks: 'Choose a field.' }
    : { kind: 'field', monitorId, field: field.trim(), statistic }
}

const readMeasure = (draft: Draft): Read => {
  const { measure, monitorId, signal, sound, metric, statistic } = draft
  switch (measure) {
    case 'category':
      return readCategory(draft)
    case 'field':
      return readField(draft)
    case 'volume':
      return { kind: measure }
    case 'rate':
    case 'agreement':
      return monitorId === null ? noMonitor : { kind: measure, monitorId }
    case 'score':
      return monitorId === null ? noMonitor : { kind: measure, monitorId, statistic }
    case 'signal':
      return { kind: measure, signal, statistic } as Measure
    case 'sound':
      return { kind: measure, name: sound, statistic } as Measure
    case 'metric':
      return metric.trim() === '' ? { lacks: 'Enter a metric key.' } : { kind: measure, key: metric.trim(), statistic }
    case 'cost':
    case 'latency':
      return { kind: measure, statistic, ...(monitorId !== null && { monitorId }) }
    default:
      return { kind: measure, statistic }
  }
}

/** Returns whether a measure is about one judge, or, without a monitor, about all judges. */
export const isOfJudges = (measure: Measure['kind']): boolean => measure === 'cost' || measure === 'latency'

/** Returns a title that describes a chart. */
export const suggestTitle = (draft: Draft, monitorName: string | undefined): string => {
  const { measure, signal, sound, metric, category, field, statistic, kind, groupBy } = draft
  const measureLabel = measureNames.find(({ value }) => value === measure)?.label ?? measure
  const names: Partial<Record<Measure['kind'], string>> = {
    rate: monitorName ?? 'Affected rate',
    score: `Score: ${monitorName ?? 'monitor'}`,
    agreement: `Agreement: ${monitorName ?? 'monitor'}`,
    category: category === '' ? `Categories: ${monitorName ?? 'monitor'}` : `${category}: ${monitorName ?? 'monitor'}`,
    field: field || 'Field',
    signal: signalLabel(signal),
    sound: soundLabel(sound),
    metric,
  }
  const what = names[measure] ?? measureLabel
  const how = hasStatistic(measure)
    ? ` (${statisticNames.find(({ value }) => value === statistic)?.label.toLowerCase()})`
    : ''
  const groups = mayHaveGroups(kind) ? groupBy.filter((name) => name !== '').map(dimensionName) : []
  return `${what}${how}${groups.length > 0 ? ` by ${groups.join(' and ')}` : ''}`.slice(0, 255)
}

/** Returns the chart, or the name of a missing field. */
export const readDraft = (draft: Draft, monitorName?: string): { chart: ChartInput } | { lacks: string } => {
  const measure = readMeasure(draft)
  if ('lacks' in measure) return measure
  const { title, kind, width, interval } = draft
  const groupBy = mayHaveGroups(kind) ? [...new Set(draft.groupBy.filter((name) => name !== ''))] : []
  const mostGroups = groupsOf({ measure }).length > 0 ? 1 : 2
  if (groupBy.length > mostGroups) return { lacks: 'Choose only one group, because categories are already groups.' }
  if (kind === 'heatmap' && groupsOf({ measure, groupBy }).length < 2) {
    return { lacks: 'Choose two groups for a heat map.' }
  }
  const overTime = kind === 'line' ? interval || 'day' : kind === 'bar' ? interval : ''
  const filter = withoutTime(draft.filter)
  return {
    chart: {
      title: title.trim() === '' ? suggestTitle(draft, monitorName) : title.trim(),
      kind,
      width,
      query: {
        measure,
        ...(groupBy.length > 0 && { groupBy }),
        ...(overTime !== '' && { interval: overTime }),
        ...(Object.keys(filter).length > 0 && { filter }),
      },
    },
  }
}
