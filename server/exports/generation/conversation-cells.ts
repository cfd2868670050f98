// Reads the cells of exported conversations, and fills the cells that PostgreSQL can't compute.

import { excerptOf, mostRead } from '../../transcripts/excerpt.ts'
import { readTranscript } from '../../transcripts/read-transcript.ts'
import { columnNames, type ExportedMonitor, freeName } from '../layout.ts'
import { type Calls, instantAt, type Results, resultWords, type Slice } from '../slice.ts'
import type { ConversationCell } from './order.ts'
import type { Tuple } from './page.ts'
import type { CellSource, ConversationColumns } from './queries.ts'

/** Appends new values to the bytes of a slice. */
const appendTo = ({ bytes, starts, lengths, ...calls }: Calls) => {
  const added: Buffer[] = []
  let length = bytes.length
  return {
    /** Returns the position at which the bytes start. */
    add: (value: Buffer): number => {
      added.push(value)
      length += value.length
      return length - value.length
    },
    set: (cell: number, start: number, count: number) => {
      starts[cell] = start
      lengths[cell] = count
    },
    calls: (): Calls => {
      if (added.length === 0) return { ...calls, starts, lengths, bytes }
      // Unlike the result of Buffer.concat, this memory never belongs to other buffers, so it can be transferred.
      const all = Buffer.allocUnsafeSlow(length)
      let end = 0
      for (const part of [bytes, ...added]) end += part.copy(all, end)
      return { ...calls, starts, lengths, bytes: all }
    },
  }
}

type Appended = ReturnType<typeof appendTo>

/** Fills a column of a slice. `cells` is the index of its first cell. */
type Fill = (slice: Slice, appended: Appended, column: number) => void

const words = resultWords.map((word) => Buffer.from(word))

const fillResults =
  (monitor: number): Fill =>
  ({ rows, calls: { width }, results: { versions, results } }, { add, set }, column) => {
    const starts = words.map(add)
    for (let row = 0; row < rows; row++) {
      const at = monitor * rows + row
      const word = results[at] ?? 0
      if (versions[at]) set(row * width + column, starts[word] ?? 0, words[word]?.length ?? 0)
    }
  }

const doubleBytes = 8

const fillScores =
  (monitor: number): Fill =>
  ({ rows, calls: { width }, results: { versions, scores } }, { add, set }, column) => {
    const values = Buffer.alloc(rows * doubleBytes)
    const start = add(values)
    for (let row = 0; row < rows; row++) {
      const at = monitor * rows + row
      const score = scores[at] ?? Number.NaN
      if (!versions[at] || Number.isNaN(score)) continue
      values.writeDoubleBE(score, row * doubleBytes)
      set(row * width + column, start + row * doubleBytes, doubleBytes)
    }
  }

const affected = resultWords.indexOf('affected')

/**
 * Lists the names of the monitors that affect a conversation, newest first like the list of conversations. Identical
 * lists are only stored once.
 */
const fillAffected = (monitors: ExportedMonitor[]): Fill => {
  const newestFirst = monitors
    .map(({ id, name }, monitor) => ({ id, name, monitor }))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  return ({ rows, calls: { width }, results: { versions, results } }, { add, set }, column) => {
    const known = new Map<string, { start: number; length: number }>()
    const isAffected = (at: number) => versions[at] !== 0 && results[at] === affected
    for (let row = 0; row < rows; row++) {
      const names = newestFirst.flatMap(({ name, monitor }) => (isAffected(monitor * rows + row) ? name : []))
      if (names.length === 0) continue
      const text = JSON.stringify(names)
      let list = known.get(text)
      if (!list) {
        const bytes = Buffer.from(text)
        list = { start: add(bytes), length: bytes.length }
        known.set(text, list)
      }
      set(row * width + column, list.start, list.length)
    }
  }
}

type Transcript = { content: string; isCut: boolean; format: string; startedAt: Date }

/** Reads the transcript that `transcriptOf` has selected. */
const transcriptAt = ({ calls }: Slice, { startedAtColumn, width }: Tuple, row: number): Transcript | undefined => {
  const { bytes, starts, lengths } = calls
  const cell = row * width + width - 1
  const start = starts[cell] ?? -1
  if (start < 0) return undefined
  const text = bytes.toString('utf8', start, start + (lengths[cell] ?? 0))
  const format = text.slice(0, text.indexOf('\n'))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const startedAt = new Date(instantAt(view, starts[row * width + startedAtColumn] ?? 0))
  const [isCut] = text.slice(format.length + 1)
  return { format, isCut: isCut === '1', content: text.slice(format.length + 3), startedAt }
}

const fillFromTranscripts =
  (tuple: Tuple, read: (transcript: Transcript) => string | null): Fill =>
  (slice, { add, set }, column) => {
    for (let row = 0; row < slice.rows; row++) {
      const transcript = transcriptAt(slice, tuple, row)
      const text = transcript ? read(transcript) : null
      if (text === null) continue
      const bytes = Buffer.from(text)
      set(row * tuple.width + column, add(bytes), bytes.length)
    }
  }

const readExcerpt = ({ content, isCut, format, startedAt }: Transcript): string | null =>
  excerptOf(content.slice(0, mostRead), isCut || content.length > mostRead, { startedAt, provider: format })

/** Returns the turns as JSON, without word times and latency components. */
const readTurns = ({ content, format, startedAt }: Transcript): string | null => {
  const reading = readTranscript(JSON.parse(content), { startedAt, provider: format })
  if (!('turns' in reading)) return null
  return JSON.stringify(reading.turns.map(({ words: _, latency: __, ...turn }) => turn))
}

const fillOf = (source: CellSource, monitors: ExportedMonitor[], tuple: Tuple): Fill | undefined => {
  switch (source.kind) {
    case 'result':
      return fillResults(monitors.findIndex(({ id }) => id === source.monitorId))
    case 'score':
      return fillScores(monitors.findIndex(({ id }) => id === source.monitorId))
    case 'affected':
      return fillAffected(monitors)
    case 'excerpt':
      return fillFromTranscripts(tuple, readExcerpt)
    case 'transcript':
      return fillFromTranscripts(tuple, readTurns)
    default:
      return undefined
  }
}

const readOf = (cells: ConversationCell[]): ConversationColumns['transcript'] => {
  if (cells.some(({ source }) => source.kind === 'transcript')) return 'whole'
  return cells.some(({ source }) => source.kind === 'excerpt') ? mostRead : 'none'
}

const idColumn = { name: 'conversation_id', type: 'uuid' } as const

/**
 * Returns the columns of a list's export. The results of all `monitors` are read. The first ones, `shown`, have their
 * own columns after all others. After the columns' cells, each tuple has the start and, if a cell needs it, the
 * transcript.
 */
export const conversationCells = (cells: ConversationCell[], monitors: ExportedMonitor[], shown: ExportedMonitor[]) => {
  const slugs = new Map(monitors.map(({ id, slug }) => [id, slug]))
  const own = columnNames({ columns: [idColumn], monitorColumns: [], monitors: shown, reasoning: true })
  const taken = new Set(own)
  const columns = cells.map(({ name, type, width, source }) => {
    const whole = 'monitorId' in source ? `${slugs.get(source.monitorId)}_${name}` : name
    return { name: freeName(whole, taken), type, ...(width !== undefined && { width }) }
  })
  const transcript = readOf(cells)
  const read: ConversationColumns = { sources: cells.map(({ source }) => source), transcript }
  const startedAtColumn = cells.length + 1
  const tuple: Tuple = { startedAtColumn, width: startedAtColumn + (transcript === 'none' ? 1 : 2) }
  const fills = cells.flatMap(({ source }, index) => {
    const fill = fillOf(source, monitors, tuple)
    return fill ? [{ fill, column: index + 1 }] : []
  })
  return {
    columns: [idColumn, ...columns],
    read,
    tuple,
    complete: (slice: Slice): Slice => {
      const appended = appendTo(slice.calls)
      for (const { fill, column } of fills) fill(slice, appended, column)
      return { rows: slice.rows, calls: appended.calls(), results: onlyFirst(slice.results, shown.length * slice.rows) }
    },
  }
}

/** Drops the results that have no columns of their own. */
const onlyFirst = ({ versions, results, scores, evaluatedAt, reasoning }: Results, end: number): Results => ({
  versions: versions.subarray(0, end),
  results: results.subarray(0, end),
  scores: scores.subarray(0, end),
  evaluatedAt: evaluatedAt.subarray(0, end),
  reasoning: reasoning && {
    bytes: reasoning.bytes,
    starts: reasoning.starts.subarray(0, end),
    lengths: reasoning.lengths.subarray(0, end),
  },
})
