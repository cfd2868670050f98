import { expect, it } from 'vitest'
import { readExportSearch } from './search.ts'

it('keeps the configuration in the URL', () => {
  const config = {
    monitors: [{ id: 'm', result: 'affected' }],
    metadata: [{ key: 'plan', op: 'eq', value: 'pro' }],
    timezone: 'Europe/Berlin',
    since: '2026-11-01T00:00:00Z',
    format: 'xlsx',
    reasoning: true,
  }
  expect(readExportSearch({ config })).toEqual({ config })
})

it('drops the fields that the form cannot show', () => {
  const config = { monitors: ['m'], metadata: {}, timezone: 'Mars/Olympus', since: 5, reasoning: 'yes', format: 'csv' }
  expect(readExportSearch({ config })).toEqual({ config: { format: 'csv' } })
})

it.each([undefined, null, 'csv', 4])('has no configuration if it is %j', (config) => {
  expect(readExportSearch({ config })).toEqual({})
})

it('keeps a list in the URL, without the fields that the form cannot show', () => {
  const list = {
    filter: { channels: ['call'], period: { previous: 'week' } },
    columns: [{ key: 'startedAt', width: 120 }],
    sort: { by: 'durationSeconds', direction: 'asc' },
    format: 'jsonl',
    results: ['m'],
    transcripts: true,
  }
  expect(readExportSearch({ list })).toEqual({ list })
  expect(readExportSearch({ list: { filter: 5, columns: 'all', results: [1], transcripts: 'yes' } })).toEqual({
    list: {},
  })
})
