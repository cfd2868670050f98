import { columnNames, type Layout, resultColumns, tupleTypes } from '../layout.ts'
import { instantAt, resultWords, type Slice } from '../slice.ts'
import { type TextBytes, type TextSource, textBytes, textSource } from './escape-cells.ts'
import type { Format } from './format.ts'

const blockBytes = 192 * 1024
const words = resultWords.map((word) => Buffer.from(JSON.stringify(word)))
const [nothing, quote, end] = ['null', '"', '}\n'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

type Type = ReturnType<typeof tupleTypes>[number]

/** Returns the bytes before each value of a row. */
const keysOf = (layout: Layout): Buffer[] =>
  columnNames(layout).map((name, column) => Buffer.from(`${column === 0 ? '{' : ','}${JSON.stringify(name)}:`))

const writeValue = (out: TextBytes, type: Type, source: TextSource, start: number, length: number) => {
  switch (type) {
    case 'integer':
      return out.integer(source.view.getInt32(start))
    case 'number':
      return out.number(source.view.getFloat64(start))
    case 'uuid':
      out.raw(quote)
      out.uuid(source.bytes, start)
      return out.raw(quote)
    case 'timestamp':
      out.raw(quote)
      out.timestamp(instantAt(source.view, start))
      return out.raw(quote)
    case 'json':
    case 'value':
    case 'list':
      return out.raw(source.bytes, start, start + length)
    default:
      return out.jsonText(source, start, start + length)
  }
}

/** Writes the rows of a slice one by one, and stops when a block is full. */
const writeRows = function* (out: TextBytes, layout: Layout, keys: Buffer[], slice: Slice): Generator<void> {
  const { rows, calls, results: found } = slice
  const { width, starts, lengths } = calls
  const source = textSource(calls.bytes)
  const { versions, scores, evaluatedAt, reasoning } = found
  const reasons = reasoning && textSource(reasoning.bytes)
  const types = tupleTypes(layout)
  const [shared, each] = [layout.columns.length, layout.monitorColumns.length]
  const own = resultColumns.length - (reasoning ? 0 : 1)
  let key = 0

  const writeKey = () => out.raw(keys[key++] as Buffer)

  const writeCells = (row: number, from: number, to: number) => {
    for (let column = from; column < to; column++) {
      writeKey()
      const cell = row * width + column
      const start = starts[cell] ?? -1
      // Every column has a type.
      if (start < 0) out.raw(nothing)
      else writeValue(out, types[column] as Type, source, start, lengths[cell] ?? 0)
    }
  }

  const writeReason = (cell: number) => {
    const start = reasoning?.starts[cell] ?? -1
    if (reasoning && reasons && start >= 0) out.jsonText(reasons, start, start + (reasoning.lengths[cell] ?? 0))
    else out.raw(nothing)
  }

  const writeResult = (cell: number) => {
    const version = versions[cell] ?? 0
    if (version === 0) {
      for (let left = own; left > 0; left--) {
        writeKey()
        out.raw(nothing)
      }
      return
    }
    writeKey()
    out.raw(words[found.results[cell] ?? 0] as Buffer)
    writeKey()
    const score = scores[cell] ?? Number.NaN
    if (Number.isNaN(score)) out.raw(nothing)
    else out.number(score)
    writeKey()
    out.integer(version)
    writeKey()
    out.raw(quote)
    out.timestamp(evaluatedAt[cell] ?? 0)
    out.raw(quote)
    if (!reasoning) return
    writeKey()
    writeReason(cell)
  }

  for (let row = 0; row < rows; row++) {
    key = 0
    writeCells(row, 0, shared)
    for (let cell = row, next = shared; cell < versions.length; cell += rows, next += each) {
      if (each > 0) writeCells(row, next, next + each)
      writeResult(cell)
    }
    out.raw(end)
    if (out.size() >= blockBytes) yield
  }
}

/** One JSON object for each row, with the same keys in the same order. */
export const jsonl: Format = {
  contentType: 'application/x-ndjson',
  write: async function* (layout, slices) {
    const out = textBytes()
    const keys = keysOf(layout)
    for await (const slice of slices) {
      for (const _ of writeRows(out, layout, keys, slice)) yield out.take()
    }
    yield out.take()
  },
}
