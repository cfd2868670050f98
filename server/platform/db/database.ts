import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { NamingClient } from './naming-client.ts'
import { recordQuery } from './query-spans.ts'
import { planning, type SessionSettings, setSession } from './session.ts'
import type { DB } from './tables.ts'

/** A pool or an open transaction: queries take either. */
export type Db = Kysely<DB>

/** The tenant. Branded, so that no query compiles without one. */
export type OrgId = string & { readonly brand: 'OrgId' }

export type DatabaseOptions = {
  /** As pg takes it: a connection string, or the folder of a unix socket with user and database. */
  connection: pg.PoolConfig
  applicationName: string
  poolSize?: number
  statementTimeoutMs?: number
  /** Longer than a statement may take: a connection without an answer until then is given up. */
  answerTimeoutMs?: number
  /** Told of a pooled connection's loss; pg would otherwise end the process. */
  onConnectionLost?: (error: Error) => void
  /** Further settings of its sessions. */
  settings?: SessionSettings
  /** Statements become spans of what asked them. */
  traced?: boolean
}

export type Database = {
  db: Db
  /** Requests waiting for a connection: the length of the queue in front of the database. */
  waiting: () => number
  stats: () => { total: number; idle: number; waiting: number }
  connection: pg.PoolConfig
  close: () => Promise<void>
}

// Instants with milliseconds are all we store (timestamptz(3)), so Date holds them without loss.
// Whole numbers of 64 bits become JS numbers: counts and bytes, far below 2^53. So do amounts of money.
// Our sessions speak UTC, and that Date reads several times faster than the general form.
const parseInstant = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) =>
  text.endsWith('+00') ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseInstant(text),
)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

/** For the way to the server and back, which ends the statement itself. */
const answerMarginMs = 5_000

const pools = new WeakMap<Db, pg.Pool>()

/** The pool behind a database; undefined for a transaction, which has one connection. */
export const poolOf = (db: Db): pg.Pool | undefined => pools.get(db)

export const openDatabase = (options: DatabaseOptions): Database => {
  const connection: pg.PoolConfig = { ...options.connection, application_name: options.applicationName }
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000
  const settings = {
    ...planning,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    ...options.settings,
  }
  const pool = new pg.Pool({
    ...connection,
    Client: NamingClient,
    max: options.poolSize ?? 10,
    // A pool that cannot give a connection within this time answers 503 instead of queueing for ever.
    connectionTimeoutMillis: 5_000,
    query_timeout: options.answerTimeoutMs ?? statementTimeoutMs + answerMarginMs,
    onConnect: (client) => setSession(client, settings),
  })
  // The pool says that it has ended before its last connections are gone, which the server may cut then.
  let closing = false
  pool.on('error', (error) => !closing && options.onConnectionLost?.(error))
  // The pool listens to idle connections alone: one lost between two statements of a transaction would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), ...(options.traced && { log: recordQuery }) })
  pools.set(db, pool)
  return {
    db,
    waiting: () => pool.waitingCount,
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    connection,
    close: () => {
      closing = true
      return db.destroy()
    },
  }
}

export const serverVersion = async (db: Db): Promise<string> => {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(db)
  return rows[0]?.version ?? 'unknown'
}
