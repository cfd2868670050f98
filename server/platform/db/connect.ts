// Chooses the database: the server in DATABASE_URL, or the embedded database of the data directory.

import pg from 'pg'
import type { Log } from '../log.ts'
import { type Embedded, type EmbeddedState, openEmbedded } from './embedded.ts'
import { processIdOf } from './pg-internals.ts'
import { errorCode, pause } from './process-control.ts'

export type ConnectOptions = {
  databaseUrl: string | undefined
  dataDir: string
  applicationName: string
  log: Log
  /**
   * `required` rejects a data directory that another process uses. `preferred` also works alongside a running service.
   */
  exclusive: 'required' | 'preferred'
  /** The time to wait for an external server that does not respond yet. */
  patienceMs?: number
  onState?: (state: EmbeddedState, error?: Error) => void
}

const defaultPatienceMs = 30_000

/** Returns whether the server is starting, which is worth waiting for. */
const isStarting = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOENT', 'EAI_AGAIN', '57P03'].includes(String(errorCode(error)))

const sharedSessions = (setting: string) =>
  `The connection pooler of ${setting} shares sessions between connections. Set it to session mode ` +
  '(pool_mode = session in PgBouncer), or connect to the server itself.'

/** The number of comparisons between two connections. A busy pooler may separate them in some of them. */
const rounds = 3
/** If the pooler is full, a connection has to wait, which proves nothing. */
const answerTimeoutMs = 2_000

/**
 * Returns whether two connections share server sessions, as they do behind a transaction pooler. In that case, either a
 * connection's session changes, or both connections have the same session. Without this check, notifications and locks
 * would be lost later.
 */
const shareSessions = async (first: pg.Client, connectionString: string): Promise<boolean> => {
  const readSession = async (client: pg.Client): Promise<number | undefined> => {
    const query = { text: 'SELECT pg_backend_pid() AS pid', query_timeout: answerTimeoutMs }
    return (await client.query<{ pid: number }>(query)).rows[0]?.pid
  }
  const own = await readSession(first).catch(() => undefined)
  // A pooler numbers its clients itself. Usually there is no pooler, and a second connection is not needed.
  if (own === undefined || own === processIdOf(first)) return false
  const second = new pg.Client({ connectionString, connectionTimeoutMillis: answerTimeoutMs })
  second.on('error', () => {})
  try {
    await second.connect()
    const other = await readSession(second)
    for (let round = 0; round < rounds; round++) {
      if ((await readSession(first)) !== own || (await readSession(second)) !== other) return true
    }
    return own === other
  } catch {
    return false
  } finally {
    await second.end().catch(() => {})
  }
}

/**
 * Rejects if connections to a read replica share sessions. Ignores a replica that can't be reached, because the service
 * can start without it.
 */
export const refuseSharedReplica = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: answerTimeoutMs })
  client.on('error', () => {})
  const isShared = await client.connect().then(
    () => shareSessions(client, connectionString),
    () => false,
  )
  await client.end().catch(() => {})
  if (isShared) throw new Error(sharedSessions('EARSHOT_READ_DATABASE_URL'))
}

/** Connects once. Returns whether connections share sessions. */
const tryExternal = async (connectionString: string): Promise<{ isShared: boolean } | { error: unknown }> => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const isShared = await shareSessions(client, connectionString)
    await client.end()
    return { isShared }
  } catch (error) {
    await client.end().catch(() => {})
    return { error }
  }
}

const connectExternal = async (connectionString: string, log: Log, patienceMs: number): Promise<Embedded> => {
  const deadline = Date.now() + patienceMs
  for (let isReported = false; ; isReported = true) {
    const tried = await tryExternal(connectionString)
    if ('isShared' in tried) {
      if (tried.isShared) throw new Error(sharedSessions('DATABASE_URL'))
      return { connection: { connectionString }, exclusive: true, close: async () => {} }
    }
    const { error } = tried
    if (!isStarting(error) || Date.now() >= deadline) {
      const reason = error instanceof Error ? error.message || String(errorCode(error)) : String(error)
      throw new Error(`The database in DATABASE_URL cannot be reached: ${reason}`, { cause: error })
    }
    if (!isReported) log.info('waiting for the database in DATABASE_URL')
    await pause(250)
  }
}

export const connectDatabase = async (options: ConnectOptions): Promise<Embedded> => {
  const { databaseUrl, patienceMs = defaultPatienceMs, dataDir, applicationName, log, onState } = options
  if (databaseUrl) return connectExternal(databaseUrl, log, patienceMs)
  const embedded = await openEmbedded({ dataDir, applicationName, log, ...(onState && { onState }) })
  if (embedded.exclusive || options.exclusive === 'preferred') return embedded
  await embedded.close()
  throw new Error(
    `The data directory ${dataDir} is in use by ${embedded.holder}. Stop that process, or set EARSHOT_DATA_DIR to another folder.`,
  )
}
