import type pg from 'pg'
import type { NamingClient } from './naming-client.ts'

/** Beyond these limits, statements use the pool's connections, which run them in parallel. */
const maxWaiting = 64
const maxPauseMs = 50
/** The delay before retrying a refused connection. */
const restMs = 1_000

export type Pipeline = {
  /** Returns undefined if the connection is not open or is busy. The caller then uses the pool. */
  query: (text: string, values: unknown[], before?: BeforeStatement) => Promise<pg.QueryResult> | undefined
  close: () => Promise<void>
}

/** Receives the connection right before the statement. */
type BeforeStatement = (client: NamingClient) => void

type Config = pg.ClientConfig & { Client: typeof NamingClient }

type Connection = {
  client: NamingClient
  /** The number of statements without a response. */
  waiting: number
  /** The time at which it last sent a statement after a pause, or received a response. */
  movedAt: number
  /** Whether statements in this turn of the event loop are held back. */
  holds: boolean
}

/**
 * Opens one connection that runs any number of short statements at once. All statements from one turn of the event loop
 * are sent together, and none waits for the response to another one. A system call for each statement would cost more
 * than everything else that a lookup needs. The connection opens with the first statement, and reopens after it is
 * lost.
 */
export const openPipeline = (
  { Client, ...config }: Config,
  prepare: (client: pg.ClientBase) => Promise<void>,
): Pipeline => {
  let connection: Connection | undefined
  let opening: Promise<void> | undefined
  let closed = false
  let restsUntil = 0

  const open = async () => {
    const client = new Client({ ...config, pipeline: true })
    const opened = { client, waiting: 0, movedAt: 0, holds: false }
    const lose = () => {
      if (connection === opened) connection = undefined
    }
    client.on('error', lose)
    client.on('end', lose)
    try {
      await client.connect()
      await prepare(client)
      connection = opened
    } catch {
      // The pool reports the same error.
      restsUntil = performance.now() + restMs
      await client.end().catch(() => {})
    }
  }

  /** Sends all statements of this turn together when the turn ends. */
  const hold = (held: Connection): void => {
    if (held.holds) return
    const { stream } = held.client.connection
    held.holds = true
    stream.cork()
    setImmediate(() => {
      held.holds = false
      stream.uncork()
    })
  }

  const send = async (
    on: Connection,
    text: string,
    values: unknown[],
    before?: BeforeStatement,
  ): Promise<pg.QueryResult> => {
    hold(on)
    on.waiting++
    try {
      before?.(on.client)
      return await on.client.query(text, values)
    } finally {
      on.waiting--
      on.movedAt = performance.now()
    }
  }

  return {
    query: (text, values, before) => {
      const now = performance.now()
      if (!connection) {
        if (!closed && now > restsUntil) {
          opening ??= open().finally(() => {
            opening = undefined
          })
        }
        return undefined
      }
      if (connection.waiting === 0) connection.movedAt = now
      // A slow statement delays those after it.
      if (connection.waiting >= maxWaiting || now - connection.movedAt > maxPauseMs) return undefined
      return send(connection, text, values, before)
    },
    close: async () => {
      closed = true
      await opening
      await connection?.client.end()
    },
  }
}
