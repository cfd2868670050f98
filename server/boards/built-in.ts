// The boards that every organization has. They are not stored, so they always show the current monitors.

import type { Selection } from '../filters/queries.ts'
import type { Actor } from '../platform/identity/actor.ts'
import type { Chart } from './schema.ts'

type Measure = Chart['query']['measure']

type Monitor = { id: string; name: string }

type Spec = Pick<Chart, 'title' | 'kind' | 'width'> & { query: Chart['query'] }

const byDay = (measure: Measure): Chart['query'] => ({ measure, interval: 'day' })

const latency = (statistic: 'p50' | 'p95'): Measure => ({
  kind: 'signal',
  signal: statistic === 'p50' ? 'responseLatencyMs.p50' : 'responseLatencyMs.p95',
  statistic,
})

const soundLatency = (name: 'responseMs.agent.p95' | 'reportedLatencyDifferenceMs'): Measure => ({
  kind: 'sound',
  name,
  statistic: name === 'responseMs.agent.p95' ? 'p95' : 'p50',
})

const rate = ({ id }: Monitor): Measure => ({ kind: 'rate', monitorId: id })

const volume: Measure = { kind: 'volume' }

const quality = (monitors: Monitor[]): Spec[] => [
  { title: 'Conversations', kind: 'number', width: 'third', query: { measure: volume } },
  ...monitors
    .slice(0, 2)
    .map(
      (monitor): Spec => ({ title: monitor.name, kind: 'number', width: 'third', query: { measure: rate(monitor) } }),
    ),
  ...monitors.map(
    (monitor): Spec => ({ title: monitor.name, kind: 'line', width: 'half', query: byDay(rate(monitor)) }),
  ),
  ...monitors.slice(0, 1).map(
    (monitor): Spec => ({
      title: `${monitor.name} by agent`,
      kind: 'table',
      width: 'full',
      query: { measure: rate(monitor), groupBy: ['agent'] },
    }),
  ),
]

const voiceLatency: Spec[] = [
  { title: 'Median response latency (ms)', kind: 'line', width: 'half', query: byDay(latency('p50')) },
  { title: '95th percentile of response latency (ms)', kind: 'line', width: 'half', query: byDay(latency('p95')) },
  {
    title: 'Response latency by agent (p95, ms)',
    kind: 'bar',
    width: 'half',
    query: { measure: latency('p95'), groupBy: ['agent'] },
  },
  {
    title: 'Response latency by weekday and hour (p95, ms)',
    kind: 'heatmap',
    width: 'half',
    query: { measure: latency('p95'), groupBy: ['weekday', 'hourOfDay'] },
  },
  {
    title: 'Time to first word (p50, ms)',
    kind: 'line',
    width: 'half',
    query: byDay({ kind: 'signal', signal: 'firstWordMs', statistic: 'p50' }),
  },
  {
    title: 'Longest silence (p95, ms)',
    kind: 'line',
    width: 'half',
    query: byDay({ kind: 'signal', signal: 'longestSilenceMs', statistic: 'p95' }),
  },
  {
    title: 'Interruptions by the agent (mean)',
    kind: 'line',
    width: 'full',
    query: byDay({ kind: 'signal', signal: 'interruptions.byAgent', statistic: 'mean' }),
  },
  {
    title: 'Response latency in recordings (p95, ms)',
    kind: 'line',
    width: 'half',
    query: byDay(soundLatency('responseMs.agent.p95')),
  },
  {
    title: 'Response latency, measured minus reported, by agent (p50, ms)',
    kind: 'bar',
    width: 'half',
    query: { measure: soundLatency('reportedLatencyDifferenceMs'), groupBy: ['agent'] },
  },
]

const volumeAndCost = (withCost: boolean): Spec[] => [
  { title: 'Conversations', kind: 'number', width: 'third', query: { measure: volume } },
  {
    title: 'Median duration (s)',
    kind: 'number',
    width: 'third',
    query: { measure: { kind: 'duration', statistic: 'p50' } },
  },
  ...(withCost
    ? [
        {
          title: 'Judge cost (US$)',
          kind: 'number',
          width: 'third',
          query: { measure: { kind: 'cost', statistic: 'sum' } },
        } satisfies Spec,
      ]
    : []),
  { title: 'Conversations by day', kind: 'bar', width: 'half', query: byDay(volume) },
  ...(withCost
    ? [
        {
          title: 'Judge cost by day (US$)',
          kind: 'bar',
          width: 'half',
          query: byDay({ kind: 'cost', statistic: 'sum' }),
        } satisfies Spec,
        {
          title: 'Judge response time by day, p95 (s)',
          kind: 'line',
          width: 'half',
          query: byDay({ kind: 'latency', statistic: 'p95' }),
        } satisfies Spec,
      ]
    : []),
  { title: 'Conversations by channel', kind: 'bar', width: 'half', query: { measure: volume, groupBy: ['channel'] } },
  {
    title: 'Conversations by weekday and hour',
    kind: 'heatmap',
    width: 'half',
    query: { measure: volume, groupBy: ['weekday', 'hourOfDay'] },
  },
  {
    title: 'Ingestion delay (p95, s)',
    kind: 'line',
    width: 'full',
    query: byDay({ kind: 'delay', statistic: 'p95' }),
  },
]

const byCompany = (monitors: Monitor[]): Spec[] => [
  { title: 'Conversations', kind: 'table', width: 'half', query: { measure: volume, groupBy: ['company'] } },
  {
    title: 'Median duration (s)',
    kind: 'bar',
    width: 'half',
    query: { measure: { kind: 'duration', statistic: 'p50' }, groupBy: ['company'] },
  },
  {
    title: 'Response latency (p95, ms)',
    kind: 'bar',
    width: 'half',
    query: { measure: latency('p95'), groupBy: ['company'] },
  },
  ...monitors.slice(0, 3).map(
    (monitor): Spec => ({
      title: monitor.name,
      kind: 'bar',
      width: 'half',
      query: { measure: rate(monitor), groupBy: ['company'] },
    }),
  ),
]

/** The IDs are the same in every organization, and no other resource uses them. */
const idOf = (board: number, chart = 0): string =>
  `00000000-0000-7000-8000-${(board * 1_000 + chart).toString(16).padStart(12, '0')}`

export const mostMonitorsShown = 6

/** Returns the built-in boards for the given monitors. Without the entitlement, no board is about monitors. */
export const builtInBoards = ({ entitlements }: Pick<Actor, 'entitlements'>, monitors: Monitor[]) => {
  const shown = entitlements.monitors ? monitors : []
  const boards: [name: string, description: string, charts: Spec[]][] = [
    ['Quality', 'How often monitors find conversations affected', quality(shown)],
    ['Voice latency', 'How fast agents respond', voiceLatency],
    ['Volume and cost', 'How many conversations there are, and what judges cost', volumeAndCost(entitlements.monitors)],
    ['By company', 'The same figures for each company', byCompany(shown)],
  ]
  const filter: Selection = { period: { last: '30d', timezone: 'UTC' } }
  return boards.map(([name, description, charts], at) => ({
    id: idOf(at + 1),
    name,
    description,
    isBuiltIn: true,
    filter,
    compareTo: 'previous_period' as const,
    charts: charts.map((chart, index): Chart => ({ id: idOf(at + 1, index + 1), ...chart })),
    createdByUserId: null,
    createdAt: null,
    updatedAt: null,
  }))
}

export const isBuiltIn = (id: string): boolean => [1, 2, 3, 4].some((board) => idOf(board) === id.toLowerCase())
