// Creates exports during faults, and one afterwards. Each must be complete and equal to the rows.
import { createHash } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import type { Stage, Traffic } from '../stage.ts'
import type { Measures } from './measures.ts'

type RequestedExport = { id: string; before: string[]; isLast: boolean }
type Row = { conversation_id: string; audit_result: string; audit_score: string }
type Manifest = { id: string; status: string; rows: number; sha256: string }

const atMost = 2
const hour = 3_600_000

export const openExports = (stage: Stage, measures: Measures): Traffic => {
  const { client, key, monitors, endpointId, startedAt, query, org } = stage
  const asked: RequestedExport[] = []
  const window = [-hour, hour].map((distance) => new Date(startedAt.getTime() + distance).toISOString())
  const config = {
    monitors: [{ id: monitors.external }],
    since: window[0],
    until: window[1],
    timezone: 'UTC',
    notificationEndpointId: endpointId,
  }

  const ask = async (isLast: boolean) => {
    const body = { operationId: crypto.randomUUID(), config }
    const before = measures.listJudged()
    const once = () => client.send('POST', '/v1/monitor-exports', [202], { key, body })
    const [first, second] = await Promise.all([once(), once()])
    if (first.body.id !== second.body.id) throw new Error(`${body.operationId} was taken for two exports`)
    asked.push({ id: first.body.id, before, isLast })
  }

  const readFile = async (id: string) => {
    const bytes = await client.download(`/v1/monitor-exports/${id}/download`, key)
    const rows: Row[] = parse(bytes, { columns: true, bom: true })
    return { sha256: createHash('sha256').update(bytes).digest('base64'), rows }
  }

  const compare = async () => {
    const stored: { pair: string }[] = await query(
      `SELECT concat_ws(' ', conversation_id, CASE result WHEN 1 THEN 'affected' ELSE 'not_affected' END, score) AS pair
       FROM monitor_results WHERE organization_id = $1 AND monitor_id = $2`,
      [org, monitors.external],
    )
    const exports: Manifest[] = await query(
      'SELECT id, status, row_count AS rows, sha256 FROM monitor_exports WHERE organization_id = $1',
      [org],
    )
    const found: string[] = []
    if (exports.length !== asked.length) found.push(`${exports.length} exports are stored in place of ${asked.length}`)
    const pairs = stored.map(({ pair }) => pair).sort()
    for (const each of asked) {
      const manifest = exports.find(({ id }) => id === each.id)
      found.push(...(await faultsOf(each, manifest, pairs)))
    }
    return found
  }

  const faultsOf = async ({ id, before, isLast }: RequestedExport, manifest: Manifest | undefined, pairs: string[]) => {
    if (manifest?.status !== 'completed') return [`the export ${id} is ${JSON.stringify(manifest)}`]
    const { sha256, rows } = await readFile(id)
    const ids = new Set(rows.map((row) => row.conversation_id))
    const lost = before.filter((conversation) => !ids.has(conversation))
    const inFile = rows.map((row) => `${row.conversation_id} ${row.audit_result} ${row.audit_score}`).sort()
    const faults: string[] = []
    if (sha256 !== manifest.sha256) faults.push(`the file of the export ${id} is another one`)
    if (rows.length !== manifest.rows)
      faults.push(`the export ${id} has ${rows.length} rows in place of ${manifest.rows}`)
    if (ids.size !== rows.length) faults.push(`the export ${id} has rows twice`)
    if (lost.length > 0) faults.push(`the export ${id} lacks ${lost.slice(0, 3)} of what was acknowledged before`)
    if (isLast && inFile.join() !== pairs.join()) faults.push(`the export ${id} is not what is stored`)
    return faults
  }

  return {
    send: async () => {
      if (asked.length < atMost) await ask(false)
    },
    finish: () => ask(true),
    compare,
  }
}
