/**
 * Encodes plain values as slices for tests of the formats, and returns the rows that a reader of the file should get.
 */
import { cellsOfCalls, type Layout, tupleTypes } from '../../../server/exports/layout.ts'
import { type CallType, type Cells, callColumns, resultWords, type Slice } from '../../../server/exports/slice.ts'

export type CallValues = {
  conversation_id: string
  external_id: string | null
  /** The time in milliseconds since 1970, as in `ended_at`. */
  started_at: number
  ended_at: number | null
  duration_seconds: number | null
  channel: string | null
  direction: string | null
  agent_id: string | null
  agent_name: string | null
  agent_version: number | null
  company_id: string | null
  company_name: string | null
  customer_id: string | null
  metadata: string | null
}

export type ResultValues = {
  version: number
  result: (typeof resultWords)[number]
  score: number | null
  evaluatedAt: number
  reasoning: string | null
}

export type SliceRow = {
  call: CallValues
  /** Further cells of the call, in the order of `tupleTypes`. */
  more?: (string | number | null)[]
  /** The results of all monitors. */
  results: (ResultValues | null)[]
}

const millennium = Date.UTC(2000, 0)

const encoders: Record<CallType, (value: string | number) => Buffer> = {
  uuid: (value) => Buffer.from(String(value).replaceAll('-', ''), 'hex'),
  timestamp: (value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(BigInt(Number(value) - millennium) * 1000n)
    return bytes
  },
  number: (value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(Number(value))
    return bytes
  },
  integer: (value) => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(Number(value))
    return bytes
  },
  word: (value) => Buffer.from(String(value)),
  name: (value) => Buffer.from(String(value)),
  text: (value) => Buffer.from(String(value)),
  json: (value) => Buffer.from(String(value)),
  value: (value) => Buffer.from(String(value)),
  list: (value) => Buffer.from(String(value)),
}

/** Adds bytes that belong to no value between the values, as in PostgreSQL's messages. */
const packed = (values: (Buffer | null)[]): Cells => {
  const between = Buffer.from('"<\u0001=')
  const starts = new Int32Array(values.length).fill(-1)
  const lengths = new Int32Array(values.length)
  const parts: Buffer[] = []
  let end = 0
  for (const [i, value] of values.entries()) {
    if (!value) continue
    starts[i] = end + between.length
    lengths[i] = value.length
    parts.push(between, value)
    end += between.length + value.length
  }
  return { bytes: Buffer.concat(parts), starts, lengths }
}

const bytesOf = (value: string | null) => (value === null ? null : Buffer.from(value))

/** Returns the values in the order of `tupleTypes`. */
const tupleOf = ({ call, more = [] }: SliceRow) => [...callColumns.map(({ name }) => call[name]), ...more]

const sliceOf = (rows: SliceRow[], layout: Layout): Slice => {
  const { monitors, reasoning } = layout
  const types = tupleTypes(layout)
  const results = monitors.flatMap((_, monitor) => rows.map((row) => row.results[monitor] ?? null))
  return {
    rows: rows.length,
    calls: {
      width: types.length,
      ...packed(
        rows.flatMap((row) => {
          const values = tupleOf(row)
          return types.map((type, at) => {
            const value = values[at] ?? null
            return value === null ? null : encoders[type](value)
          })
        }),
      ),
    },
    // Cells without a result are not empty here, because the formats must ignore their values.
    results: {
      versions: Int32Array.from(results, (result) => result?.version ?? 0),
      results: Uint8Array.from(results, (result) => (result ? resultWords.indexOf(result.result) : 3)),
      scores: Float64Array.from(results, (result) => (result ? (result.score ?? Number.NaN) : 7)),
      evaluatedAt: Float64Array.from(results, (result) => result?.evaluatedAt ?? 7),
      reasoning: reasoning
        ? packed(results.map((result) => bytesOf(result ? result.reasoning : 'no result')))
        : undefined,
    },
  }
}

export async function* slicesOf(rows: SliceRow[], layout: Layout, rowsPerSlice = 3): AsyncGenerator<Slice> {
  for (let from = 0; from < rows.length; from += rowsPerSlice) {
    yield sliceOf(rows.slice(from, from + rowsPerSlice), layout)
  }
}

/** Times are dates. */
export type Cell = string | number | Date | null

/** Returns JSON as tables show it. */
const shownJson = (json: string): string => {
  const value: unknown = JSON.parse(json)
  if (Array.isArray(value)) return value.join('; ')
  return typeof value === 'string' ? value : json
}

/** Returns the values that every table should contain for a row. */
export const cellsOf = (row: SliceRow, { columns, monitorColumns, monitors, reasoning }: Layout): Cell[] => {
  const tuple = tupleOf(row)
  return [
    ...columns.map(({ type }, at): Cell => {
      const value = tuple[at] ?? null
      if (value === null) return null
      if (type === 'value' || type === 'list') return shownJson(String(value))
      return type === 'timestamp' ? new Date(value) : value
    }),
    ...monitors.flatMap((_, monitor): Cell[] => {
      const from = columns.length + monitor * monitorColumns.length
      const own = monitorColumns.map((_column, at) => tuple[from + at] ?? null)
      return [...own, ...cellsOfResult(row.results[monitor], reasoning)]
    }),
  ]
}

/** Returns the values that JSON should contain for a row. */
export const jsonOf = (row: SliceRow, layout: Layout): unknown[] => {
  const tuple = tupleOf(row)
  return cellsOf(row, layout).map((cell, at) => {
    const type = layout.columns[at]?.type
    if (cell !== null && (type === 'json' || type === 'value' || type === 'list')) return JSON.parse(String(tuple[at]))
    // JSON has no negative zero.
    if (cell === 0) return 0
    return cell instanceof Date ? cell.toISOString() : cell
  })
}

const cellsOfResult = (result: ResultValues | null | undefined, reasoning: boolean): Cell[] => {
  const { version = null, result: word = null, score = null, evaluatedAt = null } = result ?? {}
  const cells: Cell[] = [word, score, version, evaluatedAt === null ? null : new Date(evaluatedAt)]
  return reasoning ? [...cells, result?.reasoning ?? null] : cells
}

export const layoutOf = (monitors: number, reasoning: boolean, cells = cellsOfCalls): Layout => ({
  ...cells,
  monitors: Array.from({ length: monitors }, (_, i) => ({
    id: `0198f000-0000-7000-8000-${String(i).padStart(12, '0')}`,
    name: `Monitor "${i}" <&>`,
    slug: i === 0 ? 'monitor' : `監視_${i + 1}`,
    version: i + 1,
  })),
  rowsName: 'Calls',
  versions: 'current',
  reasoning,
  about: [
    { label: 'Since', value: '2026-06-01T00:00:00.000Z' },
    { label: 'Conditions', value: '=Affected & "all" <of>\nthem' },
  ],
})

export const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
