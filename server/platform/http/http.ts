import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController, type RawServerDefault } from 'fastify'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Identity } from '../identity/identity.ts'
import type { SessionCookie } from '../identity/session-cookie.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { assertDeclared } from './access.ts'
import { addCompression } from './compression.ts'
import { addFailures, answerBrokenRequest, answerMalformedUrl } from './failures.ts'
import { addGate } from './gate.ts'
import { watchMethods } from './methods.ts'
import { addRequestMetrics, type Metrics } from './metrics.ts'
import { addOpenApi } from './openapi.ts'
import { type Overload, watchOverload } from './overload.ts'
import { openPaging, type Paging } from './paging.ts'
import { openRateLimits } from './rate-limit.ts'
import { addBodyParser, limitSignIn } from './read-body.ts'
import { addRequestIds } from './request-id.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { addTracing } from './tracing.ts'
import { addValidation } from './validation.ts'
import { watchBodies } from './watch-bodies.ts'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyInstance {
    paging: Paging
    /** Returns the reason why the database can't be reached, if that is known. */
    databaseFault: () => string | undefined
  }
}

export type HttpOptions = {
  config: Config
  log: Log
  database: Database
  identity: Identity
  secrets: Secrets
  metrics: Metrics
  /** The tags of operations in the API documents. Without tags, there are no documents. */
  areas?: [name: string, description: string][]
  sessionCookie: SessionCookie
  baseUrl: () => string
  databaseFault: () => string | undefined
  /** Replaces this process's own measurement. */
  overload?: Overload
}

/** Opens the server with everything that routes share, and then adds the routes. */
export const openHttp = async (options: HttpOptions, addRoutes: (app: App) => void): Promise<App> => {
  const { config, log, database, identity, secrets, metrics } = options
  const { limits } = config
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    // The metrics hook writes one line for each request, with the route instead of the URL.
    logController: new LogController({ disableRequestLogging: true }),
    // Creating a logger for each request would cost more than its line, so log calls include the request ID.
    childLoggerFactory: (logger) => logger,
    genReqId: () => newId(),
    // Only the nearest proxies are trusted, because anything in front of them could claim any address.
    trustProxy: (_address, hop) => hop < config.trustProxy,
    bodyLimit: limits.bodyBytes,
    // While the service is closing, requests on open connections still get a response, which closes the connection.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 4_096 },
    // This is longer than a large upload over a slow connection takes. Without a limit, a slow body could occupy its
    // socket forever.
    requestTimeout: 600_000,
    // A request without a Host header gets an error in the API's format below.
    http: { requireHostHeader: false },
    frameworkErrors: answerMalformedUrl,
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.decorate('paging', openPaging(secrets.derive('cursor')))
  app.addHook('onRoute', assertDeclared)
  app.addHook('onRoute', limitSignIn)
  addRequestIds(app)
  const methods = watchMethods(app)
  addSecurityHeaders(app, config)
  watchBodies(app, limits)
  addBodyParser(app, limits)
  addCompression(app)
  addValidation(app)
  app.decorate('databaseFault', options.databaseFault)
  addFailures(app, methods)
  if (config.telemetry.endpoint) addTracing(app)
  addRequestMetrics(app, metrics)
  const overload = options.overload ?? watchOverload(database)
  app.addHook('onClose', async () => overload.close())
  addGate(app, {
    config,
    identity,
    overload,
    sessionCookie: options.sessionCookie,
    baseUrl: options.baseUrl,
    rateLimits: openRateLimits({ perSecond: limits.ratePerSecond, burst: limits.rateBurst }),
  })
  if (options.areas) await addOpenApi(app, options.areas)
  addRoutes(app)
  await app.ready()
  return app
}
