import { setImmediate } from 'node:timers/promises'
import { columnNames, type Layout, resultColumns, tupleTypes } from '../layout.ts'
import { type CallType, instantAt, plainText, resultWords, type Slice, type Span } from '../slice.ts'
import { columnLetters, maxCellLength, SheetBytes } from './xlsx-bytes.ts'
import { type SharedStrings, sheetEnd, sheetStart } from './xlsx-parts.ts'

/** The widths are in characters. */
const callWidths: Record<CallType, number> = {
  uuid: 38,
  timestamp: 26,
  integer: 12,
  number: 12,
  word: 14,
  name: 24,
  text: 24,
  json: 40,
  value: 24,
  list: 40,
}
const resultWidths: Record<(typeof resultColumns)[number], number> = {
  result: 14,
  score: 12,
  version: 10,
  evaluated_at: 26,
  reasoning: 60,
}

const widthsOf = (layout: Layout, names: string[]) => {
  const { columns, monitorColumns, monitors, reasoning } = layout
  const chosen = resultColumns.filter((column) => reasoning || column !== 'reasoning')
  const each = [...monitorColumns.map(({ type }) => callWidths[type]), ...chosen.map((column) => resultWidths[column])]
  const widths = [...columns.map(({ type, width }) => width ?? callWidths[type]), ...monitors.flatMap(() => each)]
  // A heading also needs space for the filter button.
  return widths.map((width, column) => Math.max(width, Math.min((names[column] ?? '').length + 4, 40)))
}

export type Written = { rows: number; cutCells: number }

/**
 * After this time, the writer yields to the connection that reads the next slice, and to the thread that compresses.
 */
const turnMs = 1

/** Writes the sheet with the rows in blocks of bytes, and updates `written`. */
export async function* rowsSheet(
  layout: Layout,
  slices: AsyncIterable<Slice>,
  strings: SharedStrings,
  written: Written,
): AsyncGenerator<Buffer> {
  const names = columnNames(layout)
  const words = resultWords.map((word) => strings.indexOf(Buffer.from(word), 0, word.length) ?? 0)
  const bytes = new SheetBytes(names.length)
  bytes.xml(sheetStart(widthsOf(layout, names), true))
  bytes.startRow(1)
  for (const [column, name] of names.entries()) bytes.heading(column, name)
  bytes.endRow()

  let since = performance.now()
  for await (const slice of slices) {
    const writeCells = writerOfCells(bytes, layout, slice, strings)
    for (let row = 0; row < slice.rows; row++) {
      bytes.startRow(written.rows + 2)
      writeRow(bytes, layout, slice, row, writeCells, words)
      bytes.endRow()
      written.rows++
      if (bytes.full.length > 0) yield* bytes.full.splice(0)
      if (performance.now() - since < turnMs) continue
      await setImmediate()
      since = performance.now()
    }
  }
  bytes.xml(sheetEnd(filterArea(names.length, written.rows)))
  written.cutCells = bytes.cutCells
  yield* bytes.takeAll()
}

export const filterArea = (columns: number, rows: number) => `A1:${columnLetters(columns - 1)}${rows + 1}`

/** Writes the cells of a call. The first cell is in the sheet's column `at`. */
type WriteCells = (row: number, from: number, to: number, at: number) => void

/** Writes JSON as a number if it is exactly a number, and otherwise as text. */
const writePlain = (bytes: SheetBytes, column: number, type: 'value' | 'list', cell: Span) => {
  const plain = plainText(type, cell)
  const isQuoted = plain.bytes !== cell.bytes || plain.start !== cell.start
  const text = isQuoted ? '' : plain.bytes.toString('latin1', plain.start, plain.start + plain.length)
  if (text !== '' && String(Number(text)) === text) bytes.number(column, Number(text))
  else bytes.text(column, plain.bytes, plain.start, plain.length)
}

const writerOfCells = (bytes: SheetBytes, layout: Layout, { calls }: Slice, strings: SharedStrings): WriteCells => {
  const { width, bytes: source, starts, lengths } = calls
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  const types = tupleTypes(layout)
  return (row, from, to, at) => {
    for (let cell = from; cell < to; cell++) {
      const place = row * width + cell
      const column = at + cell - from
      // Each row has a position in each cell.
      const start = starts[place] as number
      if (start < 0) continue
      const length = lengths[place] as number
      switch (types[cell]) {
        case 'uuid':
          bytes.uuid(column, source, start)
          break
        case 'timestamp':
          bytes.timestamp(column, instantAt(view, start))
          break
        case 'integer':
          bytes.integer(column, view.getInt32(start))
          break
        case 'number':
          bytes.number(column, view.getFloat64(start))
          break
        case 'word':
        case 'name': {
          const shared = strings.indexOf(source, start, length)
          if (shared === undefined) bytes.text(column, source, start, length)
          else bytes.shared(column, shared)
          break
        }
        case 'value':
          writePlain(bytes, column, 'value', { bytes: source, start, length })
          break
        case 'list':
          writePlain(bytes, column, 'list', { bytes: source, start, length })
          break
        default:
          bytes.text(column, source, start, length)
      }
    }
  }
}

const writeRow = (
  bytes: SheetBytes,
  { columns, monitorColumns, monitors }: Layout,
  { rows, results }: Slice,
  row: number,
  writeCells: WriteCells,
  words: number[],
) => {
  const { reasoning } = results
  const [each, width] = [monitorColumns.length, reasoning ? 5 : 4]
  writeCells(row, 0, columns.length, 0)
  let column = columns.length
  let cell = columns.length
  for (let monitor = 0; monitor < monitors.length; monitor++, column += width) {
    if (each > 0) writeCells(row, cell, cell + each, column)
    cell += each
    column += each
    const place = monitor * rows + row
    // Each monitor has a position for each row, and each result has a word.
    const version = results.versions[place] as number
    if (version === 0) continue
    bytes.shared(column, words[results.results[place] as number] as number)
    bytes.number(column + 1, results.scores[place] as number)
    bytes.integer(column + 2, version)
    bytes.timestamp(column + 3, results.evaluatedAt[place] as number)
    const start = reasoning?.starts[place] ?? -1
    if (reasoning && start >= 0) bytes.text(column + 4, reasoning.bytes, start, reasoning.lengths[place] as number)
  }
}

/** Returns the About sheet, which explains the other one. */
export const aboutSheet = (layout: Layout, { rows, cutCells }: Written): Buffer => {
  const bytes = new SheetBytes(4)
  let row = 0
  const line = (values: (string | number)[], heading = false) => {
    row++
    bytes.startRow(row)
    for (const [column, value] of values.entries()) {
      if (typeof value === 'number') bytes.integer(column, value)
      else if (heading || (column === 0 && values.length === 2)) bytes.heading(column, value)
      else {
        const text = Buffer.from(value)
        bytes.text(column, text, 0, text.length)
      }
    }
    bytes.endRow()
  }
  const cut = cutCells === 0 ? 'No text in this file is truncated.' : `Truncated cells: ${cutCells}.`

  bytes.xml(sheetStart([38, 44, 44, 16], false))
  for (const { label, value } of layout.about) line([label, value])
  line([layout.rowsName, rows])
  line(['Times', 'UTC'])
  line([
    'Long texts',
    `A cell can hold at most ${maxCellLength} characters; other formats contain longer texts in full. ${cut}`,
  ])
  line([
    'In CSV',
    "In CSV files, texts that a spreadsheet could run as a formula start with '. In this file, they don't.",
  ])
  row++
  const versions = layout.versions === 'current' ? 'Current version' : 'Version'
  line(['Monitor', 'Name', 'Columns begin with', versions], true)
  for (const { id, name, slug, version } of layout.monitors) line([id, name, `${slug}_`, version])
  bytes.xml(sheetEnd())
  return Buffer.concat(bytes.takeAll())
}
