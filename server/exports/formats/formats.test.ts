import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  readCsv,
  readCsvByDuckdb,
  readJsonl,
  readJsonlByDuckdb,
  readParquet,
  readXlsx,
  type Table,
} from '../../../test/support/exports/file-readers.ts'
import {
  type CallValues,
  type Cell,
  cellsOf,
  collect,
  jsonOf,
  layoutOf,
  type SliceRow,
  slicesOf,
} from '../../../test/support/exports/slices.ts'
import { anyText } from '../../../test/text.ts'
import { cellsOfCalls, cellsOfObservations, columnNames, type Layout } from '../layout.ts'
import { callColumns, resultWords } from '../slice.ts'
import { type FormatName, loadFormat } from './formats.ts'

/** Other programs must read the same values from every format. */

const nasty = [
  '',
  ' ',
  '"',
  '""',
  'a,b',
  'one\ntwo',
  'one\r\ntwo\r',
  '\t tab ',
  '=1+1',
  ' =1+1',
  '@x',
  '-2',
  '+2',
  '＝1',
  "'quoted",
  '<&>]]>&amp;',
  '_x0041_',
  '_x005F_x0041_x0042_',
  '_x0041\u0001',
  '\u0001x0041_',
  '\u0002\u0008\u000b\u001f\u007f\u0085\u2028',
  '\ufffe\uffff\ufeff',
  '👩‍👩‍👧 e\u0301 ﷺ',
  'NULL',
  '00123',
  '12345678901234567890',
  '2026-01-01',
  'true',
  '#N/A',
]

const text = fc.oneof(
  fc.constantFrom(...nasty),
  anyText({ maxLength: 20 }).map((value) => value.replaceAll('\0', '')),
)
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4 })
const integer = fc.oneof(fc.integer(), fc.integer({ min: 0, max: 20 }))
const time = fc.oneof(
  fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
  fc.integer({ min: Date.parse('0001-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') }),
  fc.constantFrom(-1, 0, ...['1899-12-31', '1900-02-28', '1900-03-01', '1969-12-31T23:59:59.999Z'].map(Date.parse)),
)
const score = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -20_000, max: 20_000 }).map((value) => value / 10_000),
  fc.constantFrom(0.1, 1 / 3, 1e308, 5e-324, 1e21, 1e-7, 123_456.789),
)

const call: fc.Arbitrary<CallValues> = fc.record({
  conversation_id: fc.uuid(),
  external_id: optional(text),
  started_at: time,
  ended_at: optional(time),
  duration_seconds: optional(integer),
  channel: optional(fc.constantFrom('voice', 'text')),
  direction: optional(fc.constantFrom('inbound', 'outbound')),
  agent_id: optional(fc.uuid()),
  agent_name: optional(text),
  agent_version: optional(integer),
  company_id: optional(fc.uuid()),
  company_name: optional(text),
  customer_id: optional(text),
  metadata: optional(fc.dictionary(text, text, { maxKeys: 3 }).map((value) => JSON.stringify(value))),
})

const result = fc.record({
  version: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  result: fc.constantFrom(...resultWords),
  score: optional(score),
  evaluatedAt: time,
  reasoning: optional(text),
})

const times = (count: number) => ({ minLength: count, maxLength: count })

const rowOf = (monitors: number): fc.Arbitrary<SliceRow> =>
  fc.record({ call, results: fc.array(optional(result), times(monitors)) })

/** Generates a conversation's values for an experiment. */
const observedRowOf = (outcomes: number): fc.Arbitrary<SliceRow> => {
  const place = fc.tuple(fc.constantFrom('a', 'b'), optional(text), text)
  const word = fc.constantFrom('observed', 'pending', 'missing', 'failed')
  const observation = fc.oneof(fc.tuple(word, optional(score)), fc.constant([null, null]))
  const more = fc.tuple(place, fc.array(observation, times(outcomes))).map((parts) => parts.flat(2))
  return fc.record({ call, more, results: fc.array(optional(result), times(outcomes)) })
}

/** The cells for a list of conversations. Their values can be any JSON. */
const cellsOfList = {
  columns: [
    ...callColumns,
    { name: 'metadata_plan', type: 'value' as const },
    { name: 'affected', type: 'list' as const },
    { name: 'talk_ratio', type: 'number' as const },
  ],
  monitorColumns: [],
}

const jsonText = (value: unknown) => JSON.stringify(value)
const anyValue = fc.oneof(text, integer, score, fc.boolean(), fc.dictionary(text, text, { maxKeys: 2 })).map(jsonText)

const listedRowOf = (monitors: number): fc.Arbitrary<SliceRow> =>
  fc.record({
    call,
    more: fc.tuple(optional(anyValue), optional(fc.array(text, { maxLength: 3 }).map(jsonText)), optional(score)),
    results: fc.array(optional(result), times(monitors)),
  })

const kinds = [
  { cells: cellsOfCalls, rowOf },
  { cells: cellsOfObservations, rowOf: observedRowOf },
  { cells: cellsOfList, rowOf: listedRowOf },
]

const exportOf = fc
  .record({ monitors: fc.integer({ min: 1, max: 3 }), reasoning: fc.boolean(), kind: fc.constantFrom(...kinds) })
  .chain(({ monitors, reasoning, kind }) =>
    fc.record({
      layout: fc.constant(layoutOf(monitors, reasoning, kind.cells)),
      rows: fc.array(kind.rowOf(monitors), { maxLength: 10 }),
    }),
  )

const fileOf = async (format: FormatName, rows: SliceRow[], layout: Layout, rowsPerSlice?: number) =>
  collect((await loadFormat(format)).write(layout, slicesOf(rows, layout, rowsPerSlice)))

/** Replaces -0, which CSV and XLSX don't distinguish from 0. */
const plain = (cell: Cell) => (cell === 0 ? 0 : cell)

const texts = new Set<string>(['text', 'name', 'word', 'json', 'value', 'list', 'reasoning'])

const isText = (column: number, { columns, monitorColumns, reasoning }: Layout) => {
  const ofResult = ['result', 'score', 'version', 'evaluated_at', ...(reasoning ? ['reasoning'] : [])]
  const each = [...monitorColumns.map(({ type }) => type), ...ofResult]
  return texts.has(columns[column]?.type ?? each[(column - columns.length) % each.length] ?? '')
}

/** Returns a cell as CSV represents it: everything is text, and no text looks like a formula. */
const inCsv = (layout: Layout) => (cell: Cell, column: number) => {
  if (cell === null) return null
  if (cell instanceof Date) return cell.toISOString()
  if (typeof cell === 'number') return String(cell)
  return isText(column, layout) && /^ *[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell
}

/**
 * Returns a cell as XLSX represents it: dates before March 1900 are text, and JSON numbers are numbers. Its reader
 * converts CR LF to LF.
 */
const inXlsx =
  ({ columns }: Layout, row: SliceRow) =>
  (cell: Cell, column: number): Cell => {
    const json = columns[column]?.type === 'value' ? row.more?.[column - callColumns.length] : undefined
    if (typeof cell === 'string' && json === cell && String(Number(cell)) === cell) return plain(Number(cell))
    if (typeof cell === 'string') return cell.replaceAll('\r\n', '\n')
    return cell instanceof Date && cell < new Date('1900-03-01') ? cell.toISOString() : plain(cell)
  }

const expectAlike = async (rows: SliceRow[], layout: Layout, rowsPerSlice?: number) => {
  const names = columnNames(layout)
  const expected = rows.map((row) => cellsOf(row, layout))
  const expectTable = (table: Table, cellsIn: (row: SliceRow) => (cell: Cell, column: number) => Cell) =>
    expect(table).toEqual({ names, rows: expected.map((row, at) => row.map(cellsIn(rows[at] as SliceRow))) })

  const parquet = await readParquet(await fileOf('parquet', rows, layout, rowsPerSlice))
  expectTable({ ...parquet, rows: parquet.rows.map((row) => row.map(plain)) }, () => plain)

  const xlsx = readXlsx(await fileOf('xlsx', rows, layout, rowsPerSlice))
  // In XLSX, a row ends with its last value, so trailing nulls are missing.
  expectTable({ ...xlsx, rows: xlsx.rows.map((row) => names.map((_, i) => row[i] ?? null)) }, (row) =>
    inXlsx(layout, row),
  )

  const csv = await fileOf('csv', rows, layout, rowsPerSlice)
  expectTable(readCsv(csv), () => inCsv(layout))
  expectTable(await readCsvByDuckdb(csv), () => inCsv(layout))

  const jsonl = await fileOf('jsonl', rows, layout, rowsPerSlice)
  const values = rows.map((row) => jsonOf(row, layout))
  expect(readJsonl(jsonl)).toEqual({ names: rows.length > 0 ? names : [], rows: values })
  const byDuckdb = await readJsonlByDuckdb(jsonl, names)
  expect(byDuckdb.names).toEqual(names)
  expect(byDuckdb.rows.map((row) => row.map((cell) => JSON.parse(String(cell))))).toEqual(values)
}

describe('formats', () => {
  it('contain the same cells, whatever their content', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(exportOf, ({ layout, rows }) => expectAlike(rows, layout)),
      { numRuns: 15 },
    )
  })

  it('contain every difficult text', async () => {
    const layout = layoutOf(1, true)
    const [template] = fc.sample(rowOf(1), { seed: 1, numRuns: 1 })
    if (!template) throw new Error('There is no row.')
    const rows = nasty.map((value): SliceRow => {
      const hard = { external_id: value, agent_name: value, company_name: value, customer_id: value }
      const results = [{ version: 1, result: 'affected' as const, score: 0.1, evaluatedAt: 0, reasoning: value }]
      return { call: { ...template.call, ...hard, metadata: JSON.stringify({ [value]: value }) }, results }
    })
    await expectAlike(rows, layout)
  })

  it('work without rows, with one row, and with empty columns', async () => {
    const layout = layoutOf(2, true)
    await expectAlike([], layout)
    const [row] = fc.sample(rowOf(2), { seed: 1, numRuns: 1 })
    if (!row) throw new Error('There is no row.')
    const unset = Object.fromEntries(callColumns.map(({ name }) => [name, null]))
    const { conversation_id, started_at } = row.call
    // All other columns can be null.
    const bare = { ...unset, conversation_id, started_at } as CallValues
    await expectAlike([{ call: bare, results: [null, null] }], layout)
  })

  it('contain 1,100 calls of 20 monitors, in slices and blocks', { timeout: 120_000 }, async () => {
    const layout = layoutOf(20, true)
    await expectAlike(fc.sample(rowOf(20), { seed: 7, numRuns: 1_100 }), layout, 1_024)
  })

  for (const name of ['xlsx', 'parquet'] as const) {
    it(`of ${name} are the same file for the same export`, async () => {
      const layout = layoutOf(2, true)
      const rows = fc.sample(rowOf(2), { seed: 3, numRuns: 20 })
      expect(await fileOf(name, rows, layout)).toEqual(await fileOf(name, rows, layout))
    })

    it(`of ${name} fail if the slices fail`, async () => {
      const layout = layoutOf(1, false)
      const { write } = await loadFormat(name)
      async function* slices() {
        yield* slicesOf(fc.sample(rowOf(1), { seed: 4, numRuns: 10 }), layout)
        throw new Error('The connection is lost.')
      }
      await expect(collect(write(layout, slices()))).rejects.toThrow('The connection is lost.')
    })

    it(`of ${name} end the slices if the reader stops`, async () => {
      const layout = layoutOf(1, false)
      const { write } = await loadFormat(name)
      let ended = false
      async function* slices() {
        try {
          const rows = fc.sample(rowOf(1), { seed: 5, numRuns: 50 })
          for (;;) yield* slicesOf(rows, layout, 50)
        } finally {
          ended = true
        }
      }
      let bytes = 0
      for await (const chunk of write(layout, slices())) {
        bytes += chunk.length
        if (bytes > 1_000_000) break
      }
      expect(ended).toBe(true)
    })
  }
})
