import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely'
import pg from 'pg'
import { NamingClient } from './naming-client.ts'
import { openPipeline } from './pipeline.ts'
import { recordQuery } from './query-spans.ts'
import { planning, type SessionSettings, setSession } from './session.ts'
import type { DB } from './tables.ts'

/** Runs queries on a pool or within an open transaction. */
export type Db = Kysely<DB>

/** The ID of an organization. It has its own type, so that no query compiles without it. */
export type OrgId = string & { readonly brand: 'OrgId' }

export type DatabaseOptions = {
  /** The connection in pg's format: a URL, or the folder of a Unix socket with user and database. */
  connection: pg.PoolConfig
  applicationName: string
  poolSize?: number
  statementTimeoutMs?: number
  /** A connection without a response after this time is closed. Must be longer than any statement takes. */
  answerTimeoutMs?: number
  /** Called when a pooled connection is lost, because pg would otherwise end the process. */
  onConnectionLost?: (error: Error) => void
  /** Opens an additional connection for the lookups of a busy service. */
  pipelined?: boolean
  /** Additional session settings. */
  settings?: SessionSettings
  /** Traces statements as child spans of their callers. */
  traced?: boolean
  /** The class for connections. The default is NamingClient. */
  Client?: typeof NamingClient
  /** Performs further setup on a new connection. If this rejects, the connection is closed. */
  onConnect?: (client: pg.ClientBase) => Promise<void>
  /** Connections are replaced after this time. */
  lifetimeSeconds?: number
}

export type Database = {
  db: Db
  /** Returns the number of requests that are waiting for a connection. */
  waiting: () => number
  stats: () => { total: number; idle: number; waiting: number }
  connection: pg.PoolConfig
  close: () => Promise<void>
}

// Stored times only have millisecond precision (timestamptz(3)), so a Date is exact. 64-bit integers are counts and
// bytes far below 2^53, and become numbers. So do amounts of money. Sessions use UTC, and this parser handles UTC
// several times faster than the general one.
const parseInstant = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) =>
  text.endsWith('+00') ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseInstant(text),
)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

/** Extra time for the round trip, so that the server ends the statement itself. */
const answerMarginMs = 5_000

/** A connection, or a pool. */
export type Queryable = {
  query: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<pg.QueryResult<Row>>
}

type RunAlone = (text: string, values: unknown[]) => Promise<pg.QueryResult>
const runners = new WeakMap<Db, RunAlone>()

/**
 * Returns a function that runs a single statement on any connection in the fastest way. Returns undefined for a
 * transaction, which has its own connection.
 */
export const runnerOf = (db: Db): RunAlone | undefined => runners.get(db)

/** Creates a Db that uses the connections of a pool. `run` runs single statements. */
export const dbOver = (pool: PostgresPool, run: RunAlone, { traced }: Pick<DatabaseOptions, 'traced'>): Db => {
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), ...(traced && { log: recordQuery }) })
  runners.set(db, run)
  return db
}

/** Opens connections that are ready for the service's statements. */
export const openConnections = (options: DatabaseOptions) => {
  const connection: pg.PoolConfig = { ...options.connection, application_name: options.applicationName }
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000
  const settings = {
    ...planning,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    ...options.settings,
  }
  const prepare = async (client: pg.ClientBase) => {
    await setSession(client, settings)
    await options.onConnect?.(client)
  }
  const Client = options.Client ?? NamingClient
  const timed = {
    ...connection,
    // If no connection is free within this time, the request fails with 503 instead of waiting forever.
    connectionTimeoutMillis: 5_000,
    query_timeout: options.answerTimeoutMs ?? statementTimeoutMs + answerMarginMs,
  }
  const pool = new pg.Pool({
    ...timed,
    Client,
    max: options.poolSize ?? 10,
    maxLifetimeSeconds: options.lifetimeSeconds ?? 0,
    onConnect: prepare,
  })
  // The pool reports its end before its last connections are closed, and the server can still interrupt those.
  let closing = false
  pool.on('error', (error) => !closing && options.onConnectionLost?.(error))
  // The pool only listens for errors on idle connections. Without this listener, losing a connection between two
  // statements of a transaction would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const pipeline = options.pipelined ? openPipeline({ ...timed, Client }, prepare) : undefined
  return {
    connection,
    pool,
    pipeline,
    close: async () => {
      closing = true
      await pipeline?.close()
      await pool.end()
    },
  }
}

export type Connections = ReturnType<typeof openConnections>

export const databaseOver = (connections: Connections, options: DatabaseOptions): Database => {
  const { pool, pipeline, connection, close } = connections
  return {
    db: dbOver(pool, (text, values) => pipeline?.query(text, values) ?? pool.query(text, values), options),
    waiting: () => pool.waitingCount,
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    connection,
    close,
  }
}

export const openDatabase = (options: DatabaseOptions): Database => databaseOver(openConnections(options), options)

export const serverVersion = async (db: Db): Promise<string> => {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(db)
  return rows[0]?.version ?? 'unknown'
}
