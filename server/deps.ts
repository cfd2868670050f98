import type pg from 'pg'
import packageFile from '../package.json' with { type: 'json' }
import { openEmbedder } from './embeddings/embedder.ts'
import { openMeanings } from './embeddings/meanings.ts'
import { type Models, openModels } from './model-providers/models.ts'
import { openRequestLog } from './model-providers/request-log/request-log.ts'
import { type Judge, openJudge } from './monitors/judges/judge.ts'
import { openRules, type Rules } from './monitors/rules/rules.ts'
import { openBlobs } from './platform/blobs/blobs.ts'
import type { Clock } from './platform/clock.ts'
import { baseUrlOf, type Config, requestPortOf } from './platform/config.ts'
import { openRoutedDatabase } from './platform/db/citus/routing.ts'
import { openDatabaseClock } from './platform/db/clock.ts'
import { openListener } from './platform/db/listen.ts'
import { openReplica } from './platform/db/replica.ts'
import type { Deps } from './platform/deps.ts'
import { openMetrics } from './platform/http/metrics.ts'
import { openIdentity } from './platform/identity/identity.ts'
import { openSessionCookie } from './platform/identity/session-cookie.ts'
import { openJobs } from './platform/jobs/queue.ts'
import type { Log } from './platform/log.ts'
import { openOutbound } from './platform/outbound/outbound.ts'
import { loadSecretKey } from './platform/secrets/secret-key.ts'
import { openSecrets } from './platform/secrets/secrets.ts'
import { openSweeps, trust } from './platform/sweeps.ts'
import { openTelemetry } from './platform/telemetry/telemetry.ts'
import { openThreads } from './platform/threads/threads.ts'
import { openReactions, providers } from './reactions.ts'
import { listBlindReviewers } from './reviews/queries.ts'
import { type Attempts, openAttempts } from './sign-in/attempts/attempts.ts'
import { openStreams, type Streams } from './stream/send-events.ts'

/**
 * The name of the connection for notifications. From these names, `server/health` determines which processes run, and
 * which version each has.
 */
const noticesName = (applicationName: string, { roles }: Config): string =>
  `${applicationName} v${packageFile.version} ${roles.join('+')} notices`

/** All dependencies that resources use, including those of a single resource. They are closed when the process ends. */
export type ServiceDeps = Deps &
  typeof providers & {
    attempts: Attempts
    judge: Judge
    models: Models
    rules: Rules
    streams: Streams
    close: () => Promise<void>
  }

export type OpenOptions = {
  config: Config
  log: Log
  /** A migrated database. */
  connection: pg.PoolConfig
  applicationName: string
  /** Returns the reason why the database can't be reached, if it is known. */
  databaseFault?: () => string | undefined
  /** Replaces the database's clock, including for deletions by age. */
  clock?: Clock
}

/**
 * Opens all dependencies. They are closed in reverse order. If opening one fails, the ones opened before are closed.
 */
export const openDeps = async (options: OpenOptions): Promise<ServiceDeps> => {
  const { config, log, connection, applicationName } = options
  await using opened = new AsyncDisposableStack()
  const closing = <T extends { close: () => unknown }>(one: T): T =>
    opened.adopt(one, async () => {
      await one.close()
    })
  const listening = { port: requestPortOf(config), draining: false }
  const baseUrl = () => baseUrlOf(config, listening.port)
  const traced = config.telemetry.endpoint !== undefined
  const database = closing(
    await openRoutedDatabase({
      connection,
      applicationName,
      pipelined: config.roles.includes('http'),
      onConnectionLost: (error) => log.warn({ err: error }, 'a database connection was lost'),
      traced,
      log,
    }),
  )
  const { db } = database
  const replica = closing(
    await openReplica({
      url: config.readDatabaseUrl,
      maxLagMs: config.readMaxLagMs,
      primary: database,
      applicationName,
      log,
      traced,
    }),
  )
  const clock = options.clock ?? closing(await openDatabaseClock(db))
  const sweeps = options.clock ? trust(options.clock) : openSweeps({ db, log })
  const listener = closing(
    await openListener({ ...connection, application_name: noticesName(applicationName, config) }, log),
  )
  const secrets = openSecrets(await loadSecretKey(config))
  const sessionCookie = openSessionCookie({
    key: secrets.derive('sessions'),
    secure: config.baseUrl?.startsWith('https:') ?? false,
  })
  const blobs = closing(await openBlobs({ config, baseUrl, linkKey: secrets.derive('file links'), clock, sweeps }))
  const outbound = closing(openOutbound(config))
  const identity = closing(await openIdentity({ db, listener, clock, log, serviceKey: config.serviceKey }))
  const rules = closing(openRules())
  const threads = closing(openThreads(new URL('./thread.ts', import.meta.url)))
  const requests = closing(openRequestLog({ db, clock, log }))
  const models = closing(openModels({ config: config.judge, clock, requests, tenants: { db, secrets, outbound, log } }))
  const embedder = closing(openEmbedder({ db, models, clock, config }))
  const judge = closing(openJudge(models, config.judge.limits, clock))
  const jobs = closing(openJobs({ database, log }))
  const metrics = openMetrics({ database, countJobs: jobs.counts })
  const attempts = openAttempts({ db, clock, secrets, sessionCookie, identity, metrics })
  const streams = closing(
    await openStreams({
      config,
      listener,
      identity,
      clock,
      metrics,
      log,
      listBlindReviewers: (org) => listBlindReviewers(db, org),
    }),
  )
  // Telemetry closes before the database, because its last metrics are read from the database.
  const telemetry = closing(await openTelemetry({ config, registry: metrics.registry, log }))
  const all = opened.move()
  const deps: ServiceDeps = {
    ...providers,
    reactions: openReactions(() => deps),
    config,
    clock,
    attempts,
    sweeps,
    log,
    database,
    db,
    replica,
    listener,
    secrets,
    identity,
    jobs,
    blobs,
    outbound,
    embedder,
    judge,
    models,
    rules,
    streams,
    metrics,
    meanings: openMeanings(() => deps),
    threads,
    telemetry,
    sessionCookie,
    listening,
    baseUrl,
    databaseFault: options.databaseFault ?? (() => undefined),
    close: () => all.disposeAsync(),
  }
  return deps
}
