import type { Blobs } from './blobs/blobs.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Database, Db } from './db/database.ts'
import type { Listener } from './db/listen.ts'
import type { Replica } from './db/replica.ts'
import type { Metrics } from './http/metrics.ts'
import type { Identity } from './identity/identity.ts'
import type { SessionCookie } from './identity/session-cookie.ts'
import type { Jobs } from './jobs/queue.ts'
import type { Log } from './log.ts'
import type { Outbound } from './outbound/outbound.ts'
import type { Reactions } from './reactions.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { Sweeps } from './sweeps.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Threads } from './threads/threads.ts'

/** Everything with a lifetime that a handler or a job of any resource may use. `server/deps.ts` opens it. */
export type Deps = {
  config: Config
  clock: Clock
  sweeps: Sweeps
  log: Log
  database: Database
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
  metrics: Metrics
  telemetry: Telemetry
  /** What others do when something is stored, ended or deleted. */
  reactions: Reactions
  /** Where requests are answered; known once they are, when the port is chosen by the system. And whether it will soon end. */
  listening: { port: number; draining: boolean }
  databaseFault: () => string | undefined
  /** The address that links are made from. */
  baseUrl: () => string
}
