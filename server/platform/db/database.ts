import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { NamingClient } from './naming-client.ts'
import { openPipeline } from './pipeline.ts'
import { recordQuery } from './query-spans.ts'
import { planning, type SessionSettings, setSession } from './session.ts'
import type { DB } from './tables.ts'

/** A pool or an open transaction: queries accept either. */
export type Db = Kysely<DB>

/** The tenant. Branded, so that no query compiles without one. */
export type OrgId = string & { readonly brand: 'OrgId' }

export type DatabaseOptions = {
  /** As in pg: a connection string, or the folder of a Unix socket with user and database. */
  connection: pg.PoolConfig
  applicationName: string
  poolSize?: number
  statementTimeoutMs?: number
  /** Longer than any statement: a connection without a response until then is closed. */
  answerTimeoutMs?: number
  /** Called when a pooled connection is lost; pg would otherwise end the process. */
  onConnectionLost?: (error: Error) => void
  /** Another connection, for the lookups of a busy service. */
  pipelined?: boolean
  /** Further settings of its sessions. */
  settings?: SessionSettings
  /** Traces statements as child spans of their callers. */
  traced?: boolean
}

export type Database = {
  db: Db
  /** Requests waiting for a connection. */
  waiting: () => number
  stats: () => { total: number; idle: number; waiting: number }
  connection: pg.PoolConfig
  close: () => Promise<void>
}

// We only store times with milliseconds (timestamptz(3)), so Date is exact.
// 64-bit integers become JS numbers: counts and bytes, far below 2^53. So do amounts of money.
// Our sessions use UTC, which Date parses several times faster than the general format.
const parseInstant = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) =>
  text.endsWith('+00') ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseInstant(text),
)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

/** The round trip to the server, which ends the statement itself. */
const answerMarginMs = 5_000

type RunAlone = (text: string, values: unknown[]) => Promise<pg.QueryResult>
const runners = new WeakMap<Db, RunAlone>()

/** Runs one statement on any connection, the fastest way; undefined for a transaction, which has its own connection. */
export const runnerOf = (db: Db): RunAlone | undefined => runners.get(db)

export const openDatabase = (options: DatabaseOptions): Database => {
  const connection: pg.PoolConfig = { ...options.connection, application_name: options.applicationName }
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000
  const settings = {
    ...planning,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    ...options.settings,
  }
  const timed = {
    ...connection,
    // A pool without a free connection within this time returns 503 instead of queueing forever.
    connectionTimeoutMillis: 5_000,
    query_timeout: options.answerTimeoutMs ?? statementTimeoutMs + answerMarginMs,
  }
  const pool = new pg.Pool({
    ...timed,
    Client: NamingClient,
    max: options.poolSize ?? 10,
    onConnect: (client) => setSession(client, settings),
  })
  // The pool reports its end before its last connections are closed, which the server may still interrupt.
  let closing = false
  pool.on('error', (error) => !closing && options.onConnectionLost?.(error))
  // The pool only listens to idle connections: one lost between two statements of a transaction would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), ...(options.traced && { log: recordQuery }) })
  const pipeline = options.pipelined ? openPipeline(timed, settings) : undefined
  runners.set(db, (text, values) => pipeline?.query(text, values) ?? pool.query(text, values))
  return {
    db,
    waiting: () => pool.waitingCount,
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    connection,
    close: async () => {
      closing = true
      await pipeline?.close()
      await db.destroy()
    },
  }
}

export const serverVersion = async (db: Db): Promise<string> => {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(db)
  return rows[0]?.version ?? 'unknown'
}
