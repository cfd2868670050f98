// The baselines of exports, which are other ways to read the same rows.

import { once } from 'node:events'
import { createWriteStream, openSync } from 'node:fs'
import { join } from 'node:path'
import ExcelJS from 'exceljs'
import type pg from 'pg'
import Cursor from 'pg-cursor'
import type { Layout } from '../../server/exports/layout.ts'
import { columnNames } from '../../server/exports/layout.ts'
import { callColumns, instantAt, resultWords, type Slice, uuidAt } from '../../server/exports/slice.ts'

export type BaselineExport = { org: string; monitorIds: string[]; since: string; until: string; folder: string }

const calls = ({ org, since, until }: BaselineExport): string => `
  SELECT c.id, c.external_id, c.started_at, c.ended_at, c.duration_seconds, c.channel, c.direction, c.agent_id,
    a.name AS agent_name, v.number, c.company_id, k.name AS company_name, c.customer_id, c.metadata::text AS metadata
  FROM conversations c
  LEFT JOIN agents a ON a.organization_id = '${org}' AND a.id = c.agent_id
  LEFT JOIN agent_versions v ON v.organization_id = '${org}' AND v.id = c.agent_version_id
  LEFT JOIN companies k ON k.organization_id = '${org}' AND k.id = c.company_id
  WHERE c.organization_id = '${org}' AND c.started_at >= '${since}' AND c.started_at < '${until}'`

const inOrder = 'ORDER BY c.started_at, c.id'

/** Runs only PostgreSQL, in any order, which measures the cost of finding and formatting the rows. */
export const copyToNowhere = async (client: pg.Client, wanted: BaselineExport, reasoning: boolean): Promise<void> => {
  const { org, monitorIds, since, until } = wanted
  await client.query(`COPY (${calls(wanted)}) TO '/dev/null' (FORMAT binary)`)
  await client.query(`COPY (
    SELECT monitor_id, conversation_id, monitor_version, status, evaluated_at, result, score ${reasoning ? ', reasoning' : ''}
    FROM monitor_results WHERE organization_id = '${org}' AND monitor_id = ANY('{${monitorIds}}'::uuid[])
      AND call_started_at >= '${since}' AND call_started_at < '${until}') TO '/dev/null' (FORMAT binary)`)
}

/**
 * Formats a cell for spreadsheets. Text that could be a formula gets an apostrophe, and empty text differs from null.
 */
const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const openFile = (folder: string) => {
  const file = createWriteStream('', { fd: openSync(join(folder, 'baseline.csv'), 'w') })
  return {
    write: async (text: string) => {
      if (!file.write(text)) await once(file, 'drain')
    },
    close: async () => {
      file.end()
      await once(file, 'close')
    },
  }
}

const lineOf = (values: unknown[]): string => `${values.map(cell).join(',')}\r\n`

/** The ways to join the newest result of a monitor to each call as columns. */
const pivots = {
  /** Joins in the obvious way, which ignores how it will be planned. */
  lateral: ({ org }: BaselineExport, monitorId: string) => `LEFT JOIN LATERAL (
    SELECT * FROM monitor_results r
    WHERE r.organization_id = '${org}' AND r.monitor_id = '${monitorId}'
      AND r.call_started_at = c.started_at AND r.conversation_id = c.id
    ORDER BY monitor_version DESC LIMIT 1)`,
  /** Joins in the optimized way, which reads each monitor's results in the order of the calls. */
  merged: ({ org, since, until }: BaselineExport, monitorId: string) => `LEFT JOIN (
    SELECT DISTINCT ON (call_started_at, conversation_id) * FROM monitor_results
    WHERE organization_id = '${org}' AND monitor_id = '${monitorId}'
      AND call_started_at >= '${since}' AND call_started_at < '${until}'
    ORDER BY call_started_at, conversation_id, monitor_version DESC)`,
}
export type Pivot = keyof typeof pivots

/**
 * Writes exactly the same file as an export, using pg's rows and a cursor over the query that joins each monitor's
 * newest results as columns.
 */
export const throughCursor = async (client: pg.Client, wanted: BaselineExport, pivot: Pivot): Promise<void> => {
  const { monitorIds, folder } = wanted
  const columns = monitorIds.map(
    (_, at) => `, CASE r${at}.status WHEN 0 THEN CASE r${at}.result WHEN 1 THEN 'affected' ELSE 'not_affected' END
      WHEN 1 THEN 'unscored' WHEN 2 THEN 'failed' END AS monitor_${at + 1}_result, r${at}.score AS monitor_${at + 1}_score,
    r${at}.monitor_version AS monitor_${at + 1}_version, r${at}.evaluated_at AS monitor_${at + 1}_evaluated_at`,
  )
  const joins = monitorIds.map(
    (id, at) => `${pivots[pivot](wanted, id)} r${at}
      ON r${at}.call_started_at = c.started_at AND r${at}.conversation_id = c.id`,
  )
  const found = `coalesce(${monitorIds.map((_, at) => `r${at}.conversation_id`).join()}) IS NOT NULL`
  const query = calls(wanted)
    .replace('SELECT c.id,', 'SELECT c.id AS conversation_id,')
    .replace('v.number', 'v.number AS agent_version')
    .replace('FROM conversations', `${columns.join('')} FROM conversations`)
    .replace('WHERE c.', `${joins.join('\n')} WHERE ${found} AND c.`)
  const file = openFile(folder)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  // Twenty tables are more than the planner reorders, so the query runs as it is written.
  const cursor = client.query(new Cursor<Record<string, unknown>>(`${query} ${inOrder}`))
  for (let isFirst = true; ; isFirst = false) {
    const rows = await cursor.read(1_000)
    if (isFirst) await file.write(lineOf(Object.keys(rows[0] ?? {})))
    if (rows.length === 0) break
    await file.write(rows.map((row) => lineOf(Object.values(row))).join(''))
  }
  await cursor.close()
  await client.query('COMMIT')
  await file.close()
}

/** Runs a query for the results of each call. */
export const callByCall = async (client: pg.Client, wanted: BaselineExport): Promise<number> => {
  const { org, monitorIds, folder } = wanted
  const file = openFile(folder)
  const { rows } = await client.query({ text: `${calls(wanted)} ${inOrder}`, rowMode: 'array' })
  let lines = ''
  for (const row of rows) {
    const found = await client.query({
      name: 'results of a call',
      text: `SELECT result, score, monitor_version, evaluated_at FROM monitor_results
        WHERE organization_id = $1 AND monitor_id = ANY($2::uuid[]) AND call_started_at = $3 AND conversation_id = $4`,
      values: [org, monitorIds, row[2], row[0]],
      rowMode: 'array',
    })
    lines += lineOf([...row, ...found.rows.flat()])
    if (lines.length > 100_000) {
      await file.write(lines)
      lines = ''
    }
  }
  await file.write(lines)
  await file.close()
  return rows.length
}

const valuesOf = (slice: Slice, row: number): unknown[] => {
  const { calls: given, results } = slice
  const view = new DataView(given.bytes.buffer, given.bytes.byteOffset, given.bytes.byteLength)
  const values: unknown[] = callColumns.map(({ type }, column) => {
    const at = row * callColumns.length + column
    const [start, length] = [given.starts[at] ?? -1, given.lengths[at] ?? 0]
    if (start < 0) return null
    if (type === 'uuid') return uuidAt(given.bytes, start)
    if (type === 'integer') return given.bytes.readInt32BE(start)
    if (type === 'timestamp') return new Date(instantAt(view, start))
    return given.bytes.toString('utf8', start, start + length)
  })
  for (let at = row; at < results.versions.length; at += slice.rows) {
    const score = results.scores[at] ?? Number.NaN
    values.push(resultWords[results.results[at] ?? 0], Number.isNaN(score) ? null : score)
    values.push(results.versions[at], new Date(results.evaluatedAt[at] ?? 0))
  }
  return values
}

/** Writes the same slices with exceljs, the best known library. */
export const throughExceljs = async (layout: Layout, slices: AsyncIterable<Slice>, folder: string): Promise<void> => {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    filename: join(folder, 'baseline.xlsx'),
    // Without styles, times would appear as numbers.
    useStyles: true,
    useSharedStrings: true,
  })
  const sheet = workbook.addWorksheet('Calls')
  sheet.columns = columnNames(layout).map((header) => ({
    header,
    key: header,
    ...(header.endsWith('_at') && { style: { numFmt: 'yyyy-mm-dd"T"hh:mm:ss.000"Z"' } }),
  }))
  for await (const slice of slices) {
    for (let row = 0; row < slice.rows; row++) sheet.addRow(valuesOf(slice, row)).commit()
    // The library only writes when the event loop gets a turn.
    await new Promise(setImmediate)
  }
  sheet.commit()
  await workbook.commit()
}
