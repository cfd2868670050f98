// Chooses the database: the server that DATABASE_URL names, or the embedded one of the data directory.

import pg from 'pg'
import type { Log } from '../log.ts'
import { type Embedded, type EmbeddedState, openEmbedded } from './embedded.ts'
import { errorCode, pause } from './embedded-process.ts'

export type ConnectOptions = {
  databaseUrl: string | undefined
  dataDir: string
  applicationName: string
  log: Log
  /** `required` refuses a data directory that another process holds; commands can work beside it. */
  exclusive: 'required' | 'preferred'
  /** How long an external server that does not answer yet is waited for. */
  patienceMs?: number
  onState?: (state: EmbeddedState, error?: Error) => void
}

const defaultPatienceMs = 30_000

/** A server that is still starting is waited for; any other refusal is final. */
const isStarting = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOENT', 'EAI_AGAIN', '57P03'].includes(String(errorCode(error)))

const connectExternal = async (connectionString: string, log: Log, patienceMs: number): Promise<Embedded> => {
  const deadline = Date.now() + patienceMs
  for (let told = false; ; told = true) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return { connection: { connectionString }, exclusive: true, close: async () => {} }
    } catch (error) {
      await client.end().catch(() => {})
      if (isStarting(error) && Date.now() < deadline) {
        if (!told) log.info('waiting for the database that DATABASE_URL names')
        await pause(250)
        continue
      }
      const reason = error instanceof Error ? error.message || String(errorCode(error)) : String(error)
      throw new Error(`The database that DATABASE_URL names cannot be reached: ${reason}`, { cause: error })
    }
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
