/** Reads exported files with other programs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance, DuckDBTimestampTZValue, DuckDBUUIDValue } from '@duckdb/node-api'
import { type CellObject, read, utils, type WorkSheet } from '@e965/xlsx'
import { parse } from 'csv-parse/sync'
import type { Cell } from './slices.ts'

export type Table = { names: string[]; rows: Cell[][] }

/** All tests of a file share the connection. */
const connection = DuckDBInstance.create(':memory:').then((instance) => instance.connect())

/** Runs SQL on a file, which the statement refers to as `FILE`. */
export const duckdb = async (file: Buffer, sql: string): Promise<Table> => {
  const directory = mkdtempSync(join(tmpdir(), 'formats-'))
  try {
    const path = join(directory, 'file')
    writeFileSync(path, file)
    const reader = await (await connection).runAndReadAll(sql.replaceAll('FILE', `'${path}'`))
    const rows = reader.getRows().map((row) =>
      row.map((value): Cell => {
        if (value instanceof DuckDBTimestampTZValue) return new Date(Number(value.micros / 1000n))
        if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
        if (value instanceof DuckDBUUIDValue) return value.toString()
        if (value === null || typeof value === 'string' || typeof value === 'number') return value
        throw new Error(`DuckDB has given a value of another type: ${value}`)
      }),
    )
    return { names: reader.columnNames(), rows }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

export const readParquet = (file: Buffer) => duckdb(file, 'SELECT * FROM read_parquet(FILE)')

/** Returns all values as text, and empty values without quotes as null. */
export const readCsv = (file: Buffer): Table => {
  const all: (string | null)[][] = parse(file, {
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  })
  const [names = [], ...rows] = all
  return { names: names.map(String), rows }
}

export const readCsvByDuckdb = (file: Buffer) =>
  duckdb(
    file,
    `SELECT * FROM read_csv(FILE, all_varchar = true, header = true, delim = ',', quote = '"', escape = '"',
      allow_quoted_nulls = false, strict_mode = true, max_line_size = 10000000, auto_detect = false,
      columns = {COLUMNS})`.replace(
      'COLUMNS',
      readCsv(file)
        .names.map((name) => `'${name}': 'VARCHAR'`)
        .join(', '),
    ),
  )

/** Parses each line, and returns the keys of the first one. */
export const readJsonl = (file: Buffer): { names: string[]; rows: unknown[][] } => {
  const lines = file.toString().split('\n')
  if (lines.pop() !== '') throw new Error('The last line has no end.')
  const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { names: Object.keys(rows[0] ?? {}), rows: rows.map((row) => Object.values(row)) }
}

/** Returns all values as text. Values of objects and arrays are their JSON. */
export const readJsonlByDuckdb = (file: Buffer, names: string[]) =>
  duckdb(
    file,
    `SELECT * FROM read_json(FILE, format = 'newline_delimited', maximum_object_size = 100000000,
      columns = {${names.map((name) => `'${name}': 'JSON'`).join(', ')}})`,
  )

const dateFormat = 'yyyy-mm-dd"T"hh:mm:ss.000"Z"'

export const sheetOf = (file: Buffer, name: string): WorkSheet => {
  const sheet = read(file, { cellNF: true, cellText: false, cellFormula: true }).Sheets[name]
  if (!sheet) throw new Error(`There is no sheet ${name}.`)
  return sheet
}

/** Returns the cells of a sheet. Numbers that are formatted as times are returned as dates. */
export const cellsOfSheet = (file: Buffer, name: string): Cell[][] => {
  const sheet = sheetOf(file, name)
  const range = utils.decode_range(sheet['!ref'] ?? 'A1')
  return Array.from({ length: range.e.r + 1 }, (_, r) =>
    Array.from({ length: range.e.c + 1 }, (_, c) => readCell(sheet[utils.encode_cell({ r, c })])),
  )
}

const readCell = (cell: CellObject | undefined): Cell => {
  if (!cell) return null
  if (cell.f !== undefined) throw new Error(`There is a formula: ${cell.f}`)
  const { v: value } = cell
  if (typeof value === 'number')
    return cell.z === dateFormat ? new Date(Math.round((value - 25569) * 86_400_000)) : value
  if (typeof value === 'string') return value
  throw new Error(`There is a cell of type ${cell.t}.`)
}

export const readXlsx = (file: Buffer, name = 'Calls'): Table => {
  const [names = [], ...rows] = cellsOfSheet(file, name)
  return { names: names.map(String), rows }
}
