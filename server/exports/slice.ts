/**
 * A slice of an export: some calls with their monitor results. Values stay in typed arrays and in the bytes that
 * PostgreSQL sent, because an object for each of ten million cells would cost more than everything else.
 */
export type Slice = {
  rows: number
  calls: Calls
  results: Results
}

/** The offsets of the values in `bytes`. An offset of -1 means null. */
export type Cells = {
  bytes: Buffer
  starts: Int32Array
  lengths: Int32Array
}

/**
 * The cell at `row * width + column`, in PostgreSQL's binary format. `tupleTypes` of the layout returns the types of
 * the columns.
 */
export type Calls = Cells & { width: number }

/** The values at `monitor * rows + row`. */
export type Results = {
  /** 0 if there is no result in scope. In that case, all other values at this index are meaningless. */
  versions: Int32Array
  /** An index into `resultWords`. */
  results: Uint8Array
  /** NaN if there is no score. */
  scores: Float64Array
  /** Times in milliseconds since 1970. */
  evaluatedAt: Float64Array
  /** UTF-8 text. Undefined if the export does not include them. */
  reasoning: Cells | undefined
}

export const resultWords = ['affected', 'not_affected', 'unscored', 'failed'] as const

/**
 * The binary format of each type. `uuid`: 16 bytes. `timestamp`: a big-endian int64 of microseconds since 2000-01-01
 * UTC, always whole milliseconds. `integer`: a big-endian int32. `number`: a big-endian double. All others: UTF-8.
 * Values of `word` and `name` repeat often, those of `text` rarely. `json`, `value`, and `list` are JSON: `value` is
 * any JSON value that tables show without quotes, and `list` an array of strings, which they show separated by
 * semicolons.
 */
export type CallType =
  | 'uuid'
  | 'text'
  | 'timestamp'
  | 'integer'
  | 'number'
  | 'word'
  | 'name'
  | 'json'
  | 'value'
  | 'list'

export type CallColumn = { name: string; type: CallType }

/** The call columns of every export, in this order. */
export const callColumns = [
  { name: 'conversation_id', type: 'uuid' },
  { name: 'external_id', type: 'text' },
  { name: 'started_at', type: 'timestamp' },
  { name: 'ended_at', type: 'timestamp' },
  { name: 'duration_seconds', type: 'integer' },
  { name: 'channel', type: 'word' },
  { name: 'direction', type: 'word' },
  { name: 'agent_id', type: 'uuid' },
  { name: 'agent_name', type: 'name' },
  { name: 'agent_version', type: 'integer' },
  { name: 'company_id', type: 'uuid' },
  { name: 'company_name', type: 'name' },
  { name: 'customer_id', type: 'text' },
  { name: 'metadata', type: 'json' },
] as const satisfies CallColumn[]

/** The milliseconds from 1970 to PostgreSQL's epoch. */
export const millennium = 946_684_800_000
/** Above this value, JavaScript can't represent the microseconds exactly. This is about 285 years after 2000. */
const exactHigh = 2 ** 21

/** Converts a `timestamp` to milliseconds since 1970. */
export const instantAt = (view: DataView, at: number): number => {
  const high = view.getInt32(at)
  if (high < -exactHigh || high >= exactHigh) return millennium + Number(view.getBigInt64(at) / 1_000n)
  return millennium + (high * 2 ** 32 + view.getUint32(at + 4)) / 1_000
}

/** Returns a `uuid` as text. */
export const uuidAt = (bytes: Buffer, at: number): string => {
  const hex = bytes.toString('hex', at, at + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const [quote, backslash] = [0x22, 0x5c]

export type Span = { bytes: Buffer; start: number; length: number }

/** Returns a `value` or `list` as text in the format of tables. */
export const plainText = (type: 'value' | 'list', { bytes, start, length }: Span): Span => {
  const end = start + length
  const shown = (text: string): Span => {
    const own = Buffer.from(text)
    return { bytes: own, start: 0, length: own.length }
  }
  // PostgreSQL and this code wrote the JSON, so it is valid and has this type.
  if (type === 'list') return shown((JSON.parse(bytes.toString('utf8', start, end)) as string[]).join('; '))
  if (bytes[start] !== quote) return { bytes, start, length }
  const escaped = bytes.indexOf(backslash, start)
  if (escaped < 0 || escaped >= end) return { bytes, start: start + 1, length: length - 2 }
  return shown(JSON.parse(bytes.toString('utf8', start, end)) as string)
}
