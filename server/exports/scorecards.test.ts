import { expect, it } from 'vitest'
import { makeConversation, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { readCsv, readJsonl, readParquet, readXlsx } from '../../test/support/exports/file-readers.ts'
import { wideScorecards } from '../../test/support/exports/wide-scorecards.ts'

const server = await testServer()
const { call } = server

const november = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }

/**
 * Creates a scorecard and three conversations: one with results for both items, one without a result for the second
 * item, and one in which an item fails, scored by the scorecard's second version.
 */
const makeScored = async () => {
  const { key } = await makeOrganization(server)
  const greeting = await makeMonitor(server, key, { name: 'Greeting' })
  const refund = await makeMonitor(server, key, { name: 'Result' })
  const items = [
    { monitorId: greeting.id, points: 1 },
    { monitorId: refund.id, points: 3 },
  ]
  const definition = {
    sections: [{ name: 'All', items }],
    bands: [
      { name: '=Fail', from: 0 },
      { name: 'Pass', from: 80 },
    ],
    affectedBelow: 80,
  }
  const scorecard = await makeMonitor(server, key, { name: 'Quality', kind: 'scorecard', definition })
  const conversations: { id: string }[] = []
  for (const day of ['02', '03', '04']) {
    conversations.push(await makeConversation(server, key, { startedAt: `2026-11-${day}T09:00:00.000Z` }))
  }
  const tell = async (at: number, results: [monitorId: string, result: string][]) => {
    const conversationId = conversations[at]?.id
    const body = { results: results.map(([monitorId, result]) => ({ monitorId, conversationId, result })) }
    expect((await call('POST', '/v1/monitor-results', { key, body })).status).toBe(200)
    await server.drain()
  }
  await tell(0, [
    [greeting.id, 'affected'],
    [refund.id, 'not_affected'],
  ])
  await tell(1, [[greeting.id, 'not_affected']])
  const change = { definition: { ...definition, bands: [] } }
  expect((await call('PATCH', `/v1/monitors/${scorecard.id}`, { key, body: change })).status).toBe(200)
  await tell(2, [
    [greeting.id, 'affected'],
    [refund.id, 'affected'],
  ])
  return { key, scorecard, greeting, refund }
}

type Kind = 'monitor-exports' | 'conversation-exports'

const fileOf = async (kind: Kind, key: string, config: object): Promise<Buffer> => {
  const { ask, fetchFile } = exportsOf(server, kind)
  const { status, text, body } = await ask(key, config)
  expect(status, text).toBe(202)
  await server.drain()
  return Buffer.from(await (await fetchFile(key, body.id)).arrayBuffer())
}

const only = ({ names, rows }: { names: string[]; rows: unknown[][] }, wanted: string[]) =>
  rows.map((row) => wanted.map((name) => (names.includes(name) ? row[names.indexOf(name)] : undefined)))

/** Another monitor's column has the same name as the item's. */
const wanted = ['quality_band', 'quality_greeting', 'quality_result_2', 'quality_result', 'quality_score']

it('an export of results has a column for the total, the band, and each item of a scorecard', async () => {
  const { key, scorecard, refund } = await makeScored()
  const config = { ...november, timezone: 'UTC', monitors: [{ id: scorecard.id }, { id: refund.id }] }
  const csv = readCsv(await fileOf('monitor-exports', key, config))
  expect(only(csv, wanted)).toEqual([
    ["'=Fail", 'affected', 'passed', 'affected', '75'],
    [null, 'passed', 'missing', 'unscored', null],
    [null, 'affected', 'affected', 'affected', '0'],
  ])
  const parquet = await readParquet(await fileOf('monitor-exports', key, { ...config, format: 'parquet' }))
  expect(only(parquet, wanted)).toEqual([
    ['=Fail', 'affected', 'passed', 'affected', 75],
    [null, 'passed', 'missing', 'unscored', null],
    [null, 'affected', 'affected', 'affected', 0],
  ])
  const xlsx = readXlsx(await fileOf('monitor-exports', key, { ...config, format: 'xlsx' }), 'Calls')
  expect(only(xlsx, wanted)).toEqual(only(parquet, wanted))
  const preview = await call('POST', '/v1/monitor-exports/preview', { key, body: { config } })
  expect(preview.status, preview.text).toBe(200)
  expect(preview.body.columns).toEqual(csv.names)
  expect(only({ names: preview.body.columns, rows: preview.body.rows }, wanted)).toEqual(only(parquet, wanted))
  const current = await fileOf('monitor-exports', key, { ...config, versionScope: 'current' })
  expect(only(readCsv(current), wanted)).toEqual([
    [null, null, null, null, null],
    [null, 'affected', 'affected', 'affected', '0'],
  ])
})

it('an export of conversations has them with the results of a scorecard', async () => {
  const { key, scorecard, refund } = await makeScored()
  const config = { filter: november, columns: [{ key: 'channel' }], results: [refund.id, scorecard.id] }
  const jsonl = readJsonl(await fileOf('conversation-exports', key, { ...config, format: 'jsonl' }))
  expect(only(jsonl, wanted)).toEqual([
    [null, 'affected', 'affected', 'affected', 0],
    [null, 'passed', 'missing', 'unscored', null],
    ['=Fail', 'affected', 'passed', 'affected', 75],
  ])
  const xlsx = readXlsx(await fileOf('conversation-exports', key, { ...config, format: 'xlsx' }), 'Conversations')
  expect(only(xlsx, wanted)).toEqual(only(jsonl, wanted))
})

it('exports have up to 1,500 columns of scorecards', async () => {
  const { key } = await makeOrganization(server)
  const monitors = await (await wideScorecards(server, key)).make(16, 99)
  const config = { ...november, timezone: 'UTC' }
  const columns = { filter: november, columns: [{ key: 'channel' }] }
  const ids = monitors.map(({ id }) => id)
  const most = monitors.slice(0, 15)
  const csv = readCsv(await fileOf('monitor-exports', key, { ...config, monitors: most }))
  expect(csv.names.filter((name) => name.endsWith('_band'))).toHaveLength(15)
  await fileOf('conversation-exports', key, { ...columns, results: ids.slice(0, 15) })
  const refused = [
    await exportsOf(server).ask(key, { ...config, monitors }),
    await exportsOf(server, 'conversation-exports').ask(key, { ...columns, results: ids }),
  ]
  const message =
    'can have up to 1,500 columns for the bands and items of scorecards, but these have 1,600; remove some'
  expect(refused.map(({ status, body }) => [status, body.details.issues])).toEqual([
    [400, [{ path: 'config.monitors', message }]],
    [400, [{ path: 'config.results', message }]],
  ])
})
