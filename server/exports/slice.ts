/**
 * A slice of an export: some calls with their monitor results. Values stay in typed arrays and in the bytes that
 * PostgreSQL sent, because an object for each of ten million cells would cost more than everything else.
 */
export type Slice = {
  rows: number
  calls: Calls
  results: Results
}

/** Offsets of the values in `bytes`; -1 is null. */
export type Cells = {
  bytes: Buffer
  starts: Int32Array
  lengths: Int32Array
}

/**
 * At [row * width + column], in PostgreSQL's binary format. `tupleTypes` of the layout has the types of the columns.
 */
export type Calls = Cells & { width: number }

/** At [monitor * rows + row]. */
export type Results = {
  /** 0 without a result in scope; then nothing else at this index has a meaning. */
  versions: Int32Array
  /** An index into `resultWords`. */
  results: Uint8Array
  /** NaN if there is none. */
  scores: Float64Array
  /** Milliseconds since 1970. */
  evaluatedAt: Float64Array
  /** UTF-8; undefined if the export does not include it. */
  reasoning: Cells | undefined
}

export const resultWords = ['affected', 'not_affected', 'unscored', 'failed'] as const

/**
 * The binary formats: `uuid` 16 bytes; `timestamp` a big-endian int64 of microseconds since 2000-01-01 UTC, always
 * whole milliseconds; `integer` a big-endian int32; `number` a big-endian double; the others UTF-8. Values of `word`
 * and `name` repeat often, of `text` rarely.
 */
export type CallType = 'uuid' | 'text' | 'timestamp' | 'integer' | 'number' | 'word' | 'name' | 'json'

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

/** Milliseconds from 1970 to PostgreSQL's epoch. */
export const millennium = 946_684_800_000
/** Above this, microseconds have no exact number: about 285 years from 2000. */
const exactHigh = 2 ** 21

/** Returns milliseconds since 1970 from a `timestamp`. */
export const instantAt = (view: DataView, at: number): number => {
  const high = view.getInt32(at)
  if (high < -exactHigh || high >= exactHigh) return millennium + Number(view.getBigInt64(at) / 1_000n)
  return millennium + (high * 2 ** 32 + view.getUint32(at + 4)) / 1_000
}

/** Returns the text of a `uuid`. */
export const uuidAt = (bytes: Buffer, at: number): string => {
  const hex = bytes.toString('hex', at, at + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
