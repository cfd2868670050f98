import { expect, it } from 'vitest'
import { serviceKey, testServer } from '../../../test/server.ts'
import { type ExperimentStudy, studiesOf } from '../../../test/support/experiments/studies.ts'
import {
  cellsOfSheet,
  duckdb,
  readCsv,
  readParquet,
  readXlsx,
  type Table,
} from '../../../test/support/exports/file-readers.ts'
import { generate, TooManyCalls } from '../../exports/generation/generate.ts'
import { newId } from '../../platform/ids.ts'
import { countAll } from '../observations/counter-loop.ts'
import { makeObservationOrder } from './make-order.ts'

/** Tests the contents of a file with an experiment's observations. */

const server = await testServer()
const { call, deps, clock } = server
const { makeStudy, fillStudy, ask, read, fetchFile, make } = studiesOf(server)

type Row = Record<string, Table['rows'][number][number]>

const rowsOf = ({ names, rows }: Table): Row[] =>
  rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null])))

const outcomesOf = async ({ key, id }: ExperimentStudy) =>
  (await call('GET', `/v1/experiments/${id}`, { key })).body.outcomes

/** Compares the results for each outcome and arm with the rows. */
const expectCounts = async (study: ExperimentStudy, rows: Row[], slugs: string[]) => {
  const outcomes = await outcomesOf(study)
  for (const [at, slug] of slugs.entries()) {
    for (const arm of ['a', 'b']) {
      const of = rows.filter((row) => row.arm === arm)
      const count = (word: string) => of.filter((row) => row[`${slug}_observation`] === word).length
      const values = of.map((row) => row[`${slug}_value`]).filter((value) => value !== null)
      const found = {
        observed: count('observed'),
        pending: count('pending'),
        missing: count('missing'),
        failed: count('failed'),
        sum: values.reduce((sum: number, value) => sum + Number(value), 0),
      }
      expect(outcomes[at].arms[arm], `${slug} in arm ${arm}`).toMatchObject(found)
      expect(values).toHaveLength(found.observed)
    }
  }
}

const slugs = ['refund_asked', 'refund_asked_2', 'chats']

it('has every counted conversation as the experiment counts it, in all formats', async () => {
  const study = await makeStudy()
  const ids = await fillStudy(study)
  // These conversations started before the launch, or their version is in neither arm.
  await study.converse('A', { agentVersionId: undefined, systemPrompt: 'Another one.' })
  await study.converse('B', { startedAt: '2026-01-01T00:00:00Z' })
  await countAll(deps)
  const config = { reasoning: true }
  const parquet = await readParquet(await make(study, { ...config, format: 'parquet' }))
  const rows = rowsOf(parquet)
  expect(rows.map((row) => row.conversation_id)).toEqual(ids)
  expect(parquet.names.slice(12, 24)).toEqual([
    'customer_id',
    'metadata',
    'arm',
    'arm_name',
    'unit',
    ...['observation', 'value', 'result', 'score', 'version', 'evaluated_at', 'reasoning'].map(
      (name) => `refund_asked_${name}`,
    ),
  ])
  await expectCounts(study, rows, slugs)
  expect(rows[0]).toMatchObject({
    arm: 'a',
    arm_name: 'Short',
    unit: '=customer 0',
    refund_asked_observation: 'observed',
    refund_asked_value: 1,
    refund_asked_result: 'affected',
    refund_asked_score: 0,
    refund_asked_version: 1,
    refund_asked_reasoning: '=Because of "0"',
    refund_asked_2_observation: 'observed',
    refund_asked_2_value: 0,
    chats_observation: null,
    chats_value: null,
    chats_result: null,
  })
  expect(rows[1]).toMatchObject({ arm: 'b', arm_name: null, refund_asked_value: 0, refund_asked_2_value: 0.25 })
  expect(rows[2]).toMatchObject({ refund_asked_observation: 'missing', refund_asked_result: 'unscored' })
  expect(rows[2]).toMatchObject({ refund_asked_value: null, chats_observation: 'observed', chats_value: 1 })
  expect(rows[3]).toMatchObject({ unit: ids[3], refund_asked_observation: 'missing', refund_asked_result: null })
  expect(rows[4]).toMatchObject({ refund_asked_2_observation: 'failed', refund_asked_2_score: null })
  expect(rows[6]).toMatchObject({ refund_asked_2_observation: 'pending', refund_asked_2_value: null })

  const isText = new Set(['customer_id', 'unit', 'refund_asked_reasoning'])
  const inCsv = parquet.rows.map((cells) =>
    cells.map((cell, at) => {
      if (cell instanceof Date) return cell.toISOString()
      if (cell === null) return null
      return isText.has(parquet.names[at] ?? '') && String(cell).startsWith('=') ? `'${cell}` : String(cell)
    }),
  )
  expect(readCsv(await make(study, config))).toEqual({ names: parquet.names, rows: inCsv })
  const xlsx = readXlsx(await make(study, { ...config, format: 'xlsx' }))
  const filled = xlsx.rows.map((cells) => parquet.names.map((_, at) => cells[at] ?? null))
  expect({ ...xlsx, rows: filled }).toEqual(parquet)
})

it('shows the assigned unit: a value of the metadata, or the conversation if it is missing', async () => {
  const study = await makeStudy({ assignmentUnit: { kind: 'metadata', key: `'"house\\hold` } })
  const key = `'"house\\hold`
  const ids = [
    await study.converse('A', { metadata: { [key]: 'one' }, customerId: 'Ada' }),
    await study.converse('A', { metadata: { [key]: 2 } }),
    await study.converse('A', { metadata: { [key]: { street: 'x' } } }),
    await study.converse('B', { metadata: { [key]: '' } }),
  ]
  await countAll(deps)
  const rows = rowsOf(await readParquet(await make(study, { format: 'parquet' })))
  const units = new Map(rows.map((row) => [row.conversation_id, row.unit]))
  expect(ids.map((id) => units.get(id))).toEqual(['one', '2', ids[2], ids[3]])
})

it('contains results of the pinned version, whatever other versions returned', async () => {
  const study = await makeStudy()
  const rule = study.monitors[1].id as string
  const change = { definition: { expression: 'false', score: '100.0' } }
  await call('PATCH', `/v1/monitors/${rule}`, { key: study.key, body: change })
  await study.converse('A', { metadata: { effort: 4 } })
  await server.drain()
  const [row] = rowsOf(await readParquet(await make(study, { format: 'parquet' })))
  const both = await deps.db
    .selectFrom('monitor_results')
    .select('monitor_version as version')
    .where('monitor_id', '=', rule)
    .orderBy('monitor_version')
    .execute()
  expect(both).toEqual([{ version: 1 }, { version: 2 }])
  expect(row).toMatchObject({ refund_asked_2_version: 1, refund_asked_2_score: 1, refund_asked_2_value: 1 })
})

it('describes the experiment in words', async () => {
  const cohortFilters = [{ field: 'metadata', key: 'plan', op: 'eq', value: 'gold' }]
  const study = await makeStudy({ cohortFilters, expectedArmAPercent: 40 })
  await call('POST', `/v1/experiments/${study.id}/finish`, { key: study.key })
  const config = { format: 'xlsx', timezone: 'Europe/Berlin' }
  const about = cellsOfSheet(await make(study, config), 'About').map((cells) => cells.filter((cell) => cell !== null))
  for (const line of [
    ['Experiment', '=Brevity'],
    ['Description', 'Is it better?'],
    ['State', expect.stringMatching(/^finished .*Z \(in Europe\/Berlin \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)$/)],
    ['Arm A', 'Short: version 1 of Leo'],
    ['Arm B', 'version 2 of Leo'],
    ['Expected share of arm A', '40%'],
    ['Conversations', 'conversations, where plan is “gold”'],
    ['Unit', 'Customer, or the conversation if it is missing'],
    ['Outcome', 'Refund asked?, version 1; the value is 1 if affected, 0 if not'],
    ['Primary outcome', 'Refund, asked, version 1; the value is the score'],
    ['Monitor', 'Name', 'Columns begin with', 'Version'],
    [study.monitors[2].id, '=Chats', 'chats_', 1],
  ]) {
    expect(about).toContainEqual(line)
  }
  const file = await make(study, { format: 'parquet' })
  const { rows } = await duckdb(file, 'SELECT decode(key), decode(value) FROM parquet_kv_metadata(FILE) ORDER BY 1')
  expect(JSON.parse(String(rows[1]?.[1]))[0]).toEqual({
    id: study.monitors[0].id,
    name: 'Refund asked?',
    slug: 'refund_asked',
    pinnedVersion: 1,
  })
})

it('works without the monitors once they are deleted, and without their entitlement', async () => {
  const study = await makeStudy()
  await fillStudy(study)
  await call('POST', `/v1/experiments/${study.id}/finish`, { key: study.key })
  for (const { id } of study.monitors) await call('DELETE', `/v1/monitors/${id}`, { key: study.key })
  const body = { entitlements: { monitors: false } }
  await call('PATCH', `/v1/organizations/${study.org}`, { key: serviceKey, body })
  await server.drain()
  const rows = rowsOf(await readParquet(await make(study, { format: 'parquet' })))
  expect(rows).toHaveLength(8)
  await expectCounts(study, rows, slugs)
})

it('has a file that matches its manifest', async () => {
  const study = await makeStudy()
  await study.converse('A')
  await countAll(deps)
  const { body } = await ask(study, { timezone: 'Europe/Berlin' })
  await server.drain()
  const manifest = await read(study, body.id)
  const path = `/v1/experiments/${study.id}/exports/${body.id}`
  expect(manifest).toMatchObject({ status: 'completed', rowCount: 1, downloadPath: `${path}/download` })
  const { bytes, headers } = await fetchFile(study, body.id)
  expect(bytes).toHaveLength(manifest.bytes)
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="earshot-experiment-from-.*\.csv"/)
})

it('can have as many conversations as the limit, and fails with one more', async () => {
  const study = await makeStudy()
  await fillStudy(study)
  const stored = { id: newId(), experimentId: study.id, createdAt: clock.now(), config: { format: 'csv' } }
  const order = await makeObservationOrder(deps, study.org, stored, `${study.org}/exports/limit.csv`)
  const run = (maxRows: number) =>
    generate(deps, order, { signal: new AbortController().signal, onProgress: () => {}, limits: { maxRows } })
  expect(await run(8)).toMatchObject({ rows: 8 })
  await expect(run(7)).rejects.toThrow(TooManyCalls)
})
