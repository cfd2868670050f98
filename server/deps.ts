import type pg from 'pg'
import { baseUrlOf, type Config } from './config.ts'
import { type Judge, openJudge } from './monitors/judges/judge.ts'
import { openRules, type Rules } from './monitors/rules/rules.ts'
import { type Blobs, openBlobs } from './platform/blobs/blobs.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { type Database, type Db, openDatabase } from './platform/db/database.ts'
import { type Listener, openListener } from './platform/db/listen.ts'
import { type Metrics, openMetrics } from './platform/http/metrics.ts'
import { type Identity, openIdentity } from './platform/identity/identity.ts'
import { openSessionCookie, type SessionCookie } from './platform/identity/session-cookie.ts'
import { type Jobs, openJobs } from './platform/jobs/queue.ts'
import type { Log } from './platform/log.ts'
import { type Outbound, openOutbound } from './platform/outbound/outbound.ts'
import { loadSecretKey } from './platform/secrets/secret-key.ts'
import { openSecrets, type Secrets } from './platform/secrets/secrets.ts'
import { openTelemetry, type Telemetry } from './platform/telemetry/telemetry.ts'

/** Everything with a lifetime that a handler or a job may stand on. */
export type Deps = {
  config: Config
  clock: Clock
  log: Log
  database: Database
  db: Db
  listener: Listener
  secrets: Secrets
  identity: Identity
  sessionCookie: SessionCookie
  jobs: Jobs
  blobs: Blobs
  outbound: Outbound
  judge: Judge
  rules: Rules
  metrics: Metrics
  telemetry: Telemetry
  /** Where this process listens; known once it does, when the port is chosen by the system. And whether it will soon end. */
  listening: { port: number; draining: boolean }
  /** The address that links are made from. */
  baseUrl: () => string
}

export type OpenOptions = {
  config: Config
  log: Log
  /** A migrated database. */
  connection: pg.PoolConfig
  applicationName: string
  clock?: Clock
}

export const openDeps = async ({ config, log, connection, applicationName, clock = systemClock }: OpenOptions) => {
  const listening = { port: config.port, draining: false }
  const baseUrl = () => baseUrlOf(config, listening.port)
  const database = openDatabase({
    connection,
    applicationName,
    onConnectionLost: (error) => log.warn({ err: error }, 'a database connection was lost'),
    traced: config.telemetry.endpoint !== undefined,
  })
  const { db } = database
  const listener = await openListener({ ...connection, application_name: `${applicationName} notices` }, log)
  const secrets = openSecrets(await loadSecretKey(config))
  const sessionCookie = openSessionCookie({
    key: secrets.derive('sessions'),
    secure: config.baseUrl?.startsWith('https:') ?? false,
  })
  const identity = await openIdentity({ db, listener, clock, log, serviceKey: config.serviceKey })
  const jobs = await openJobs({ database, log })
  const blobs = await openBlobs({ config, baseUrl, linkKey: secrets.derive('file links'), clock })
  const outbound = openOutbound(config)
  const judge = openJudge(config.judge, { clock })
  const rules = openRules()
  const metrics = openMetrics({ database, countJobs: jobs.counts })
  const telemetry = await openTelemetry({ config, registry: metrics.registry, log })
  const deps: Deps = {
    ...{ config, clock, log, database, db, listener, secrets, identity, jobs, blobs, outbound, judge, rules, metrics },
    ...{ telemetry, sessionCookie, listening, baseUrl },
  }
  return deps
}

/** In the reverse order: what stands on another thing goes first. */
export const closeDeps = async ({
  telemetry,
  jobs,
  judge,
  rules,
  identity,
  outbound,
  blobs,
  listener,
  database,
}: Deps): Promise<void> => {
  // Its last metrics ask the database.
  await telemetry.close()
  await jobs.close()
  await judge.close()
  await rules.close()
  await identity.close()
  await outbound.close()
  await blobs.close()
  await listener.close()
  await database.close()
}
