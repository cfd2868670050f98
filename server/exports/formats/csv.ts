import { columnNames, type Layout, tupleTypes } from '../layout.ts'
import { instantAt, plainText, resultWords, type Slice } from '../slice.ts'
import { shortWord, type TextBytes, type TextSource, textBytes, textSource } from './escape-cells.ts'
import type { Format } from './format.ts'

const results = resultWords.map(shortWord)
const blockBytes = 192 * 1024

const writeHeader = (out: TextBytes, layout: Layout): void => {
  for (const name of columnNames(layout)) {
    out.plain(name)
    out.comma()
  }
  out.endRow()
}

type Type = ReturnType<typeof tupleTypes>[number]

/** Writes JSON as text. Uses the source's own bytes if they need no change. */
const writePlain = (out: TextBytes, type: 'value' | 'list', source: TextSource, start: number, length: number) => {
  const { bytes, start: from, length: count } = plainText(type, { bytes: source.bytes, start, length })
  out.text(bytes === source.bytes ? source : textSource(bytes), from, from + count)
}

const writeValue = (out: TextBytes, type: Type | undefined, source: TextSource, start: number, length: number) => {
  if (type === 'uuid') out.uuid(source.bytes, start)
  else if (type === 'integer') out.integer(source.view.getInt32(start))
  else if (type === 'timestamp') out.timestamp(instantAt(source.view, start))
  else if (type === 'number') out.number(source.view.getFloat64(start))
  else if (type === 'value' || type === 'list') writePlain(out, type, source, start, length)
  else out.text(source, start, start + length)
}

/** Writes the rows of a slice one by one, and stops when a block is full. */
const writeRows = function* (out: TextBytes, layout: Layout, slice: Slice): Generator<void> {
  const { rows, calls, results: found } = slice
  const { width, starts, lengths } = calls
  const source = textSource(calls.bytes)
  const { versions, scores, evaluatedAt, reasoning } = found
  const reasons = reasoning && textSource(reasoning.bytes)
  const types = tupleTypes(layout)
  const [shared, each] = [layout.columns.length, layout.monitorColumns.length]

  const writeCall = (row: number, from: number, to: number) => {
    for (let column = from; column < to; column++) {
      const cell = row * width + column
      const start = starts[cell] ?? -1
      if (start >= 0) writeValue(out, types[column], source, start, lengths[cell] ?? 0)
      out.comma()
    }
  }

  const writeResult = (cell: number) => {
    const version = versions[cell] ?? 0
    if (version === 0) {
      out.commas(reasoning ? 5 : 4)
      return
    }
    const result = results[found.results[cell] ?? 0]
    if (result) out.shortWord(result)
    out.comma()
    const score = scores[cell] ?? Number.NaN
    if (!Number.isNaN(score)) out.number(score)
    out.comma()
    out.integer(version)
    out.comma()
    out.timestamp(evaluatedAt[cell] ?? 0)
    out.comma()
    if (reasoning) writeReason(reasoning, cell)
  }

  const writeReason = ({ starts, lengths }: NonNullable<typeof reasoning>, cell: number) => {
    const start = starts[cell] ?? -1
    if (start >= 0 && reasons) out.text(reasons, start, start + (lengths[cell] ?? 0))
    out.comma()
  }

  for (let row = 0; row < rows; row++) {
    writeCall(row, 0, shared)
    for (let cell = row, own = shared; cell < versions.length; cell += rows, own += each) {
      if (each > 0) writeCall(row, own, own + each)
      writeResult(cell)
    }
    out.endRow()
    if (out.size() >= blockBytes) yield
  }
}

export const csv: Format = {
  contentType: 'text/csv; charset=utf-8',
  write: async function* (layout, slices) {
    const out = textBytes()
    writeHeader(out, layout)
    for await (const slice of slices) {
      for (const _ of writeRows(out, layout, slice)) yield out.take()
    }
    yield out.take()
  },
}
