import { describe, expect, it } from 'vitest'
import { duckdb } from '../../../test/support/exports/file-readers.ts'
import { collect, layoutOf, type SliceRow, slicesOf } from '../../../test/support/exports/slices.ts'
import { columnNames } from '../layout.ts'
import { parquet } from './parquet.ts'

const layout = layoutOf(2, true)

/** Returns a row for a call without other data, with a result only from the first monitor. */
const bareRow = (number: number): SliceRow => ({
  call: {
    conversation_id: '0198f000-0000-7000-8000-0123456789ab',
    external_id: null,
    started_at: number,
    ended_at: null,
    duration_seconds: null,
    channel: null,
    direction: null,
    agent_id: null,
    agent_name: null,
    agent_version: null,
    company_id: null,
    company_name: null,
    customer_id: null,
    metadata: null,
  },
  results: [{ version: 1, result: 'affected', score: null, evaluatedAt: 0, reasoning: null }, null],
})

const fileOf = (rows: SliceRow[]) => collect(parquet.write(layout, slicesOf(rows, layout, 2)))

const monitorTypes = ['VARCHAR', 'DOUBLE', 'INTEGER', 'TIMESTAMP WITH TIME ZONE', 'VARCHAR']
const types: Record<string, string> = {
  started_at: 'TIMESTAMP WITH TIME ZONE',
  ended_at: 'TIMESTAMP WITH TIME ZONE',
  duration_seconds: 'INTEGER',
  agent_version: 'INTEGER',
}

describe('Parquet', () => {
  it('has the type of each column, even if all values are null or there are no rows', async () => {
    for (const rows of [[], [bareRow(0), bareRow(1), bareRow(2)]]) {
      const { rows: described } = await duckdb(await fileOf(rows), 'DESCRIBE SELECT * FROM read_parquet(FILE)')
      const found = described.map(([name, type]) => [name, type])
      expect(found).toEqual(
        columnNames(layout).map((name, i) => [name, i < 14 ? (types[name] ?? 'VARCHAR') : monitorTypes[(i - 14) % 5]]),
      )
    }
  })

  it('declares its types for old and new readers', async () => {
    const sql = `SELECT DISTINCT type, converted_type, logical_type FROM parquet_schema(FILE)
      WHERE type IS NOT NULL ORDER BY type`
    expect((await duckdb(await fileOf([bareRow(0)]), sql)).rows).toEqual([
      ['BYTE_ARRAY', 'UTF8', 'StringType()'],
      ['DOUBLE', null, null],
      ['INT32', null, null],
      [
        'INT64',
        'TIMESTAMP_MILLIS',
        'TimestampType(isAdjustedToUTC=1, unit=TimeUnit(MILLIS=MilliSeconds(), MICROS=<null>, NANOS=<null>))',
      ],
    ])
  })

  it('has a row group per slice, compressed with Zstandard, with dictionaries of repeated values', async () => {
    const file = await fileOf(Array.from({ length: 5 }, (_, i) => bareRow(i)))
    const groups = `SELECT DISTINCT row_group_id, row_group_num_rows, compression FROM parquet_metadata(FILE) ORDER BY 1`
    expect((await duckdb(file, groups)).rows).toEqual([
      ['0', '2', 'ZSTD'],
      ['1', '2', 'ZSTD'],
      ['2', '1', 'ZSTD'],
    ])
    const encodings = `SELECT encodings FROM parquet_metadata(FILE)
      WHERE row_group_id = 0 AND path_in_schema IN ('monitor_result', '監視_2_result')`
    expect((await duckdb(file, encodings)).rows).toEqual([['PLAIN, RLE_DICTIONARY'], ['PLAIN']])
  })

  it('has the configuration and the monitors in its metadata', async () => {
    const sql = 'SELECT decode(key), decode(value) FROM parquet_kv_metadata(FILE) ORDER BY 1'
    const { rows } = await duckdb(await fileOf([]), sql)
    expect(rows.map(([key, value]) => [key, JSON.parse(String(value))])).toEqual([
      ['earshot.about', layout.about],
      ['earshot.monitors', layout.monitors.map(({ version, ...one }) => ({ ...one, currentVersion: version }))],
    ])
  })
})
