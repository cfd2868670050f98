import { columnNames, type Layout } from '../layout.ts'
import { callColumns, instantAt, resultWords, type Slice } from '../slice.ts'
import { type CsvBytes, csvBytes, shortWord, textSource } from './csv-bytes.ts'
import type { Format } from './format.ts'

const results = resultWords.map(shortWord)
const blockBytes = 192 * 1024

const writeHeader = (out: CsvBytes, layout: Layout): void => {
  for (const name of columnNames(layout)) {
    out.ascii(name)
    out.comma()
  }
  out.endRow()
}

/** The rows of a slice one by one, told when a block is full. */
const writeRows = function* (out: CsvBytes, { rows, calls, results: found }: Slice): Generator<void> {
  const { starts, lengths } = calls
  const source = textSource(calls.bytes)
  const { versions, scores, evaluatedAt, reasoning } = found
  const reasons = reasoning && textSource(reasoning.bytes)
  const types = callColumns.map(({ type }) => type)

  const writeCall = (row: number) => {
    for (let column = 0; column < types.length; column++) {
      const cell = row * types.length + column
      const start = starts[cell] ?? -1
      if (start >= 0) {
        const type = types[column]
        if (type === 'uuid') out.uuid(source.bytes, start)
        else if (type === 'integer') out.integer(source.view.getInt32(start))
        else if (type === 'timestamp') out.timestamp(instantAt(source.view, start))
        else out.text(source, start, start + (lengths[cell] ?? 0))
      }
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
    if (!reasoning || !reasons) return
    const start = reasoning.starts[cell] ?? -1
    if (start >= 0) out.text(reasons, start, start + (reasoning.lengths[cell] ?? 0))
    out.comma()
  }

  for (let row = 0; row < rows; row++) {
    writeCall(row)
    for (let cell = row; cell < versions.length; cell += rows) writeResult(cell)
    out.endRow()
    if (out.size() >= blockBytes) yield
  }
}

export const csv: Format = {
  contentType: 'text/csv; charset=utf-8',
  rowsPerSlice: ({ reasoning }) => (reasoning ? 2_048 : 4_096),
  write: async function* (layout, slices) {
    const out = csvBytes()
    writeHeader(out, layout)
    for await (const slice of slices) {
      for (const _ of writeRows(out, slice)) yield out.take()
    }
    yield out.take()
  },
}
