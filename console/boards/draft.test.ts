import { expect, it } from 'vitest'
import { type Draft, readDraft, startDraft, suggestTitle } from './draft.ts'
import type { Chart } from './queries.ts'

const draft = (part: Partial<Draft> = {}): Draft => ({ ...startDraft(), ...part })

it('a new chart counts conversations by day', () => {
  expect(readDraft(draft())).toEqual({
    chart: {
      title: 'Conversations',
      kind: 'line',
      width: 'half',
      query: { measure: { kind: 'volume' }, interval: 'day' },
    },
  })
})

it('a stored chart stays as it is', () => {
  const charts: Omit<Chart, 'id'>[] = [
    {
      title: 'Latency',
      kind: 'heatmap',
      width: 'full',
      query: {
        measure: { kind: 'signal', signal: 'responseLatencyMs.p95', statistic: 'p95' },
        groupBy: ['weekday', 'hourOfDay'],
        filter: { channels: ['call'] },
      },
    },
    { title: 'Cost', kind: 'number', width: 'third', query: { measure: { kind: 'cost', statistic: 'sum' } } },
    {
      title: 'Agents',
      kind: 'bar',
      width: 'half',
      query: { measure: { kind: 'rate', monitorId: 'm' }, groupBy: ['agent'] },
    },
    {
      title: 'CSAT',
      kind: 'table',
      width: 'half',
      query: { measure: { kind: 'metric', key: 'csat', statistic: 'mean' } },
    },
    {
      title: 'Reasons',
      kind: 'heatmap',
      width: 'half',
      query: { measure: { kind: 'category', monitorId: 'm' }, groupBy: ['agent'] },
    },
    {
      title: 'Billing',
      kind: 'number',
      width: 'half',
      query: { measure: { kind: 'category', monitorId: 'm', category: 'billing' } },
    },
    {
      title: 'Amount',
      kind: 'table',
      width: 'half',
      query: { measure: { kind: 'field', monitorId: 'm', field: 'amount', statistic: 'p50' }, groupBy: ['category:m'] },
    },
  ]
  for (const chart of charts) expect(readDraft(startDraft({ id: 'c', ...chart }))).toEqual({ chart })
})

it('drops the fields that a chart type cannot have', () => {
  const read = readDraft(draft({ kind: 'number', groupBy: ['agent', ''], interval: 'day', filter: { since: 'x' } }))
  expect(read).toMatchObject({ chart: { query: { measure: { kind: 'volume' } } } })
  expect(Object.keys((read as { chart: Chart }).chart.query)).toEqual(['measure'])
  expect(readDraft(draft({ kind: 'line', interval: '' }))).toMatchObject({ chart: { query: { interval: 'day' } } })
  expect(readDraft(draft({ kind: 'table', groupBy: ['agent', 'agent'] }))).toMatchObject({
    chart: { query: { groupBy: ['agent'] } },
  })
})

it('says what is missing', () => {
  expect(readDraft(draft({ measure: 'rate' }))).toEqual({ lacks: 'Choose a monitor.' })
  expect(readDraft(draft({ measure: 'metric', metric: ' ' }))).toEqual({ lacks: 'Enter a metric key.' })
  const shares = { measure: 'category', monitorId: 'm' } as const
  expect(readDraft(draft({ ...shares, kind: 'number' }))).toEqual({ lacks: 'To show a number, choose a category.' })
  expect(readDraft(draft({ ...shares, groupBy: ['agent', 'channel'] }))).toEqual({
    lacks: 'Choose only one group, because categories are already groups.',
  })
  expect(readDraft(draft({ measure: 'field', monitorId: 'm' }))).toEqual({ lacks: 'Choose a field.' })
  expect(readDraft(draft({ kind: 'heatmap', groupBy: ['agent', ''] }))).toEqual({
    lacks: 'Choose two groups for a heat map.',
  })
})

it('suggests a title', () => {
  expect(suggestTitle(draft({ measure: 'rate', groupBy: ['metadata:plan', 'hourOfDay'] }), 'Asks for a person')).toBe(
    'Asks for a person by plan and hour of day',
  )
  expect(suggestTitle(draft({ measure: 'duration', statistic: 'p95' }), undefined)).toBe('Duration (95th percentile)')
})
