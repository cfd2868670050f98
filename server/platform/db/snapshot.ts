// Opens one connection that reads millions of rows in one transaction, and therefore from one snapshot of the database.

import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import pg from 'pg'
import { readerOf } from './pg-internals.ts'
import { planning, type SessionSettings, setSession } from './session.ts'

/**
 * Receives each tuple of a binary COPY, from its field count to its end. The view refers to the socket's memory and is
 * only valid during the call.
 */
export type TakeTuple = (view: DataView, at: number, end: number) => void

export type Snapshot = {
  query: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>
  /** COPY takes no parameters, so the caller must validate each literal in the query. */
  copy: (query: string, take: TakeTuple) => Promise<void>
  close: () => Promise<void>
}

const [copyOut, copyData, copyDone, errorResponse] = [0x48, 0x64, 0x63, 0x45]
/** The bytes before the first tuple: a signature, flags, and the length of an empty extension. */
const headerBytes = 19
/** The size of a socket read. If a tuple is larger, the buffer grows. */
const firstBufferBytes = 128 * 1024
/** The number of bytes before a message's content: its type and length. */
const frameBytes = 5

/**
 * Passes each tuple on in place as its bytes arrive from the socket. pg and pg-copy-streams create an object for each
 * row, which for two million rows takes longer than everything else in an export.
 */
const readMessages = (take: TakeTuple, toPg: (bytes: Buffer) => void, onEnd: () => void) => {
  // New data is appended to incomplete tuples in memory that is reused.
  let bytes = Buffer.allocUnsafeSlow(firstBufferBytes)
  let view = new DataView(bytes.buffer)
  let length = 0
  let isFirst = true
  // pg keeps the buffers that it receives, so it gets a copy.
  const hand = (from: number, to: number) => toPg(Buffer.from(bytes.subarray(from, to)))

  const append = (chunk: Uint8Array) => {
    if (length + chunk.length > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, length + chunk.length))
      bytes.copy(larger, 0, 0, length)
      bytes = larger
      view = new DataView(bytes.buffer)
    }
    bytes.set(chunk, length)
    length += chunk.length
  }

  const takeData = (at: number, end: number) => {
    const start = at + frameBytes + (isFirst ? headerBytes : 0)
    isFirst = false
    // The end is marked by -1 instead of a field count.
    if (view.getInt16(start) >= 0) take(view, start, end)
  }

  return (chunk: Uint8Array) => {
    append(chunk)
    let at = 0
    while (at + frameBytes <= length) {
      const end = at + 1 + view.getInt32(at + 1)
      if (end > length) break
      const type = bytes[at]
      if (type === copyData) {
        takeData(at, end)
      } else if (type === copyDone || type === errorResponse) {
        onEnd()
        hand(at, length)
        return
      } else if (type !== copyOut) {
        hand(at, end)
      }
      at = end
    }
    bytes.copyWithin(0, at, length)
    length -= at
  }
}

type Read = (chunk: Uint8Array) => void

/**
 * Opens a socket that reuses its memory, because otherwise Node would allocate a buffer for each of an export's tens of
 * thousands of reads. `divert` reads arriving data in place, and everything else goes to pg. (With TLS, pg wraps this
 * socket in its own stream.)
 */
const openSocket = () => {
  let diverted: Read | undefined
  const socket = new Socket({
    onread: {
      buffer: Buffer.allocUnsafeSlow(firstBufferBytes),
      callback: (length, memory) => {
        const bytes = memory.subarray(0, length)
        if (diverted) diverted(bytes)
        // pg keeps the buffers that it receives, so it gets a copy.
        else socket.emit('data', Buffer.from(bytes))
        return true
      },
    },
  })
  return {
    socket,
    divert: (read: Read | undefined) => {
      diverted = read
    },
  }
}

const copy = (client: pg.Client, divert: (read: Read | undefined) => void, query: string, take: TakeTuple) =>
  new Promise<void>((resolve, reject) => {
    let failure: { error: unknown } | undefined
    const takeUnlessFailed: TakeTuple = (view, at, end) => {
      if (failure) return
      try {
        take(view, at, end)
      } catch (error) {
        failure = { error }
      }
    }
    // This is pg's interface for a query that owns the connection until PostgreSQL is ready for the next one.
    const submittable = {
      submit: (connection: pg.Connection) => {
        const { stream } = connection
        const toPg = readerOf(connection)
        if (!toPg) return new Error('pg does not read its connection with one listener.')
        if (stream instanceof TLSSocket) {
          const read = readMessages(takeUnlessFailed, toPg, () => stream.on('data', toPg).off('data', read))
          stream.on('data', read).off('data', toPg)
        } else {
          divert(readMessages(takeUnlessFailed, toPg, () => divert(undefined)))
        }
        connection.query(`COPY (${query}) TO STDOUT (FORMAT binary)`)
        return undefined
      },
      handleCommandComplete: () => {},
      handleError: reject,
      handleReadyForQuery: () => (failure ? reject(failure.error) : resolve()),
    }
    client.query(submittable)
  })

/** The position in the primary's log that a replica must reach, and the time limit for reaching it. */
type Wait = { position: string; timeoutMs: number }

const pollMs = 100

const holds = async (client: pg.Client, { position, timeoutMs }: Wait): Promise<boolean> => {
  for (const deadline = performance.now() + timeoutMs; ; await sleep(pollMs)) {
    const text = 'SELECT NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= $1::pg_lsn AS holds'
    const { rows } = await client.query<{ holds: boolean }>(text, [position])
    if (rows[0]?.holds) return true
    if (performance.now() > deadline) return false
  }
}

type SnapshotOptions = { applicationName: string; settings?: SessionSettings; wait?: Wait }

/** Opens a snapshot. Returns undefined if the server did not reach the position in time. */
export const openSnapshot = async (
  connection: pg.ClientConfig,
  { applicationName, settings, wait }: SnapshotOptions,
): Promise<Snapshot | undefined> => {
  const { socket, divert } = openSocket()
  const client = new pg.Client({
    ...connection,
    stream: () => socket,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
  })
  // If the connection is lost between two statements, the next one fails. Without a listener, the error would end the
  // process.
  client.on('error', () => {})
  try {
    await client.connect()
    await setSession(client, { ...planning, ...settings })
    if (wait && !(await holds(client, wait))) {
      await client.end()
      return undefined
    }
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  return {
    query: async (text, values = []) => (await client.query(text, values)).rows,
    copy: (query, take) => copy(client, divert, query, take),
    // Closing the connection also ends the transaction.
    close: () => client.end(),
  }
}

/** Returns the position in a primary's log. */
export const logPosition = async (connection: pg.ClientConfig, applicationName: string): Promise<string> => {
  const client = new pg.Client({ ...connection, application_name: applicationName, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ position: string }>('SELECT pg_current_wal_lsn()::text AS position')
    return rows[0]?.position ?? '0/0'
  } finally {
    await client.end().catch(() => {})
  }
}
