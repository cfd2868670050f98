import type { ParquetWriter } from 'hyparquet-writer'
import { type Layout, tupleTypes } from '../layout.ts'
import { type CallType, millennium, plainText, resultWords, type Slice } from '../slice.ts'

const millenniumMs = BigInt(millennium)

type Schema = ParquetWriter['schema']
type Column = Parameters<ParquetWriter['write']>[0]['columnData'][number]
type Kind = 'string' | 'integer' | 'double' | 'timestamp'

const kinds: Record<CallType, Kind> = {
  uuid: 'string',
  text: 'string',
  word: 'string',
  name: 'string',
  // Some readers show JSON columns as bytes, so this column is a string.
  json: 'string',
  value: 'string',
  list: 'string',
  integer: 'integer',
  number: 'double',
  timestamp: 'timestamp',
}
const resultKinds: Kind[] = ['string', 'double', 'integer', 'timestamp', 'string']

/** Each column has its current type and, for older readers, its former name. */
const types: Record<Kind, Omit<Schema[number], 'name'>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
}

export const schemaOf = (layout: Layout, names: string[]): Schema => {
  const { columns, monitorColumns, monitors, reasoning } = layout
  const ofResult = reasoning ? resultKinds : resultKinds.slice(0, -1)
  const each = [...monitorColumns.map(({ type }) => kinds[type]), ...ofResult]
  const all = [...columns.map(({ type }) => kinds[type]), ...monitors.flatMap(() => each)]
  return [
    { name: layout.rowsName.toLowerCase(), num_children: names.length },
    // A column has exactly one kind and one name.
    ...names.map((name, i) => ({ ...types[all[i] as Kind], name, repetition_type: 'OPTIONAL' as const })),
  ]
}

/** Columns with many repeated values store each value once. */
const repeats = new Set<CallType>(['word', 'name'])

export const columnsOf = (layout: Layout, names: string[], slice: Slice): Column[] => {
  const columns: Column[] = []
  const add = (data: Column['data'], repeated = false) => {
    const name = names[columns.length] ?? ''
    // Readers disagree about empty dictionaries.
    const dictionary = repeated && data.some((value: unknown) => value !== undefined)
    columns.push({ name, data, encoding: dictionary ? 'RLE_DICTIONARY' : 'PLAIN' })
  }
  const types = tupleTypes(layout)
  let next = 0
  /** Adds the next cells of the call. */
  const addCells = (count: number) => {
    for (const end = next + count; next < end; next++) {
      // Every cell has a type.
      const type = types[next] as CallType
      const name = names[columns.length]
      add(callData(slice, next, type), repeats.has(type) || name === 'agent_id' || name === 'company_id')
    }
  }
  addCells(layout.columns.length)
  for (let monitor = 0; monitor < layout.monitors.length; monitor++) {
    addCells(layout.monitorColumns.length)
    const { results, scores, versions, evaluatedAt, reasoning } = resultsOf(slice, monitor)
    add(results, true)
    add(scores)
    add(versions)
    add(evaluatedAt)
    if (reasoning) add(reasoning)
  }
  return columns
}

const callData = ({ rows, calls }: Slice, column: number, type: CallType): Column['data'] => {
  const { width, bytes, starts, lengths } = calls
  const values = (read: (start: number, length: number) => unknown) => {
    const data = new Array<unknown>(rows)
    for (let row = 0, place = column; row < rows; row++, place += width) {
      // Each row has a position in each column.
      const start = starts[place] as number
      if (start >= 0) data[row] = read(start, lengths[place] as number)
    }
    return data
  }
  switch (type) {
    case 'integer':
      return values((start) => bytes.readInt32BE(start))
    case 'number':
      return values((start) => bytes.readDoubleBE(start))
    case 'timestamp':
      return values((start) => bytes.readBigInt64BE(start) / 1000n + millenniumMs)
    case 'uuid':
      return values(memo(bytes, uuidText))
    case 'word':
    case 'name':
      return values(memo(bytes, (key) => Buffer.from(key, 'latin1').toString()))
    case 'value':
    case 'list':
      return values((start, length) => {
        const text = plainText(type, { bytes, start, length })
        return text.bytes.subarray(text.start, text.start + text.length)
      })
    default:
      return values((start, length) => bytes.subarray(start, start + length))
  }
}

/** Creates the string for equal bytes only once. The bytes as Latin-1 are the fastest key. */
const memo = (bytes: Buffer, make: (key: string) => string) => {
  const made = new Map<string, string>()
  return (start: number, length: number) => {
    const key = bytes.toString('latin1', start, start + length)
    let text = made.get(key)
    if (text === undefined) {
      text = make(key)
      made.set(key, text)
    }
    return text
  }
}

const uuidText = (key: string) => {
  const hex = Buffer.from(key, 'latin1').toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const resultsOf = ({ rows, results: all }: Slice, monitor: number) => {
  const [from, to] = [monitor * rows, (monitor + 1) * rows]
  const results = new Array<unknown>(rows)
  const scores = new Array<unknown>(rows)
  const versions = new Array<unknown>(rows)
  const evaluatedAt = new Array<unknown>(rows)
  for (let place = from, row = 0; place < to; place++, row++) {
    // Each monitor has a position for each row.
    const version = all.versions[place] as number
    if (version === 0) continue
    results[row] = resultWords[all.results[place] as number]
    const score = all.scores[place] as number
    if (!Number.isNaN(score)) scores[row] = score
    versions[row] = version
    evaluatedAt[row] = BigInt(Math.round(all.evaluatedAt[place] as number))
  }
  return { results, scores, versions, evaluatedAt, reasoning: all.reasoning && reasoningOf(rows, all, from) }
}

const reasoningOf = (rows: number, { versions, reasoning }: Slice['results'], from: number) => {
  const data = new Array<unknown>(rows)
  for (let row = 0; row < rows; row++) {
    const start = reasoning?.starts[from + row] ?? -1
    if (versions[from + row] === 0 || start < 0) continue
    data[row] = reasoning?.bytes.subarray(start, start + (reasoning.lengths[from + row] ?? 0))
  }
  return data
}
