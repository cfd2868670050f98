import type { Blobs } from './blobs/blobs.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { RoutedDatabase } from './db/citus/routing.ts'
import type { Db } from './db/database.ts'
import type { Listener } from './db/listen.ts'
import type { Replica } from './db/replica.ts'
import type { Embedder } from './embedder.ts'
import type { Metrics } from './http/metrics.ts'
import type { Identity } from './identity/identity.ts'
import type { SessionCookie } from './identity/session-cookie.ts'
import type { Jobs } from './jobs/queue.ts'
import type { Log } from './log.ts'
import type { Meanings } from './meanings.ts'
import type { Outbound } from './outbound/outbound.ts'
import type { Reactions } from './reactions.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { Sweeps } from './sweeps.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Threads } from './threads/threads.ts'

/** Resources with a lifetime that all handlers and jobs can use. `server/deps.ts` opens them. */
export type Deps = {
  config: Config
  clock: Clock
  sweeps: Sweeps
  log: Log
  database: RoutedDatabase
  db: Db
  replica: Replica
  listener: Listener
  secrets: Secrets
  identity: Identity
  sessionCookie: SessionCookie
  jobs: Jobs
  blobs: Blobs
  outbound: Outbound
  threads: Threads
  embedder: Embedder
  metrics: Metrics
  telemetry: Telemetry
  meanings: Meanings
  /** Triggers the consequences of stored, ended, and deleted data. */
  reactions: Reactions
  /**
   * The server's port, which is unknown before it listens if the system chooses it, and whether the server is about to
   * stop.
   */
  listening: { port: number; draining: boolean }
  databaseFault: () => string | undefined
  /** Returns the base URL for links. */
  baseUrl: () => string
}
