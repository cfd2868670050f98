/**
 * A slice of an export: some calls with what the chosen monitors found. Values stay in typed arrays and in the bytes
 * that PostgreSQL sent, because an object for each of ten million cells would cost more than all the rest.
 */
export type Slice = {
  rows: number
  calls: Calls
  results: Results
}

/** Where each value lies in `bytes`; -1 is null. */
export type Cells = {
  bytes: Buffer
  starts: Int32Array
  lengths: Int32Array
}

/** At [row * width + column], in PostgreSQL's binary form. `tupleTypes` of the layout tells what the columns are. */
export type Calls = Cells & { width: number }

/** At [monitor * rows + row]. */
export type Results = {
  /** 0 where there is no result in scope; nothing else of that place has a meaning then. */
  versions: Int32Array
  /** An index into `resultWords`. */
  results: Uint8Array
  /** NaN where there is none. */
  scores: Float64Array
  /** Milliseconds since 1970. */
  evaluatedAt: Float64Array
  /** UTF-8; undefined when the export leaves it out. */
  reasoning: Cells | undefined
}

export const resultWords = ['affected', 'not_affected', 'unscored', 'failed'] as const

/**
 * The binary forms: `uuid` 16 bytes; `timestamp` a big-endian int64 of microseconds since 2000-01-01 UTC, always whole
 * milliseconds; `integer` a big-endian int32; `number` a big-endian double; the others UTF-8. `word` and `name` repeat a
 * lot, `text` hardly.
 */
export type CallType = 'uuid' | 'text' | 'timestamp' | 'integer' | 'number' | 'word' | 'name' | 'json'

export type Column = { name: string; type: CallType }

/** What every export says of a call, in this order. */
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
] as const satisfies Column[]

/** Milliseconds from 1970 to where PostgreSQL counts from. */
export const millennium = 946_684_800_000
/** Above this, microseconds have no exact number: some 285 years from 2000. */
const exactHigh = 2 ** 21

/** Milliseconds since 1970 of a `timestamp`. */
export const instantAt = (view: DataView, at: number): number => {
  const high = view.getInt32(at)
  if (high < -exactHigh || high >= exactHigh) return millennium + Number(view.getBigInt64(at) / 1_000n)
  return millennium + (high * 2 ** 32 + view.getUint32(at + 4)) / 1_000
}

/** A `uuid` as people write it. */
export const uuidAt = (bytes: Buffer, at: number): string => {
  const hex = bytes.toString('hex', at, at + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
