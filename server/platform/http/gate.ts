import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import type { Actor } from '../identity/actor.ts'
import type { Identity, KnownKey, KnownSession } from '../identity/identity.ts'
import type { SessionCookie } from '../identity/session-cookie.ts'
import { type Access, checkAccess } from './access.ts'
import { checkOrigin, isReading, type OwnAddress } from './origin.ts'
import type { Overload } from './overload.ts'
import type { RateLimits } from './rate-limit.ts'
import { checkMediaType, checkUrlText } from './read-body.ts'
import { requestIdsOf } from './request-id.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Identifies the caller of a long request again. Throws if access has ended, as for a new request. */
    identifyAgain: (request: FastifyRequest) => Promise<{ actor: Actor; expiresAt: Date | null }>
  }
}

type Options = OwnAddress & {
  identity: Identity
  rateLimits: RateLimits
  overload: Overload
  sessionCookie: SessionCookie
}

/** Overload must not affect these routes, because monitoring needs them most at that time. */
const alwaysAnswered = new Set(['/healthz', '/readyz', '/metrics'])

/** The sender of a request that is being authenticated. */
type Caller = Exclude<KnownKey | KnownSession, { kind: 'unknown' }>

const unauthorized = () =>
  new ApiError(
    'unauthorized',
    'Send a valid API key as `Authorization: Bearer <API_KEY>`, or sign in. Create keys under Settings.',
  )

/** Returns the key in a request. Follows the grammar of the Authorization header. */
const bearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +([\x21-\x7e]{1,256})$/i.exec(header ?? '')?.[1]

/** Returns the key in the header that the route's clients use. */
const ownHeader = ({ routeOptions, headers }: FastifyRequest) => {
  const { keyHeader } = routeOptions.config
  return keyHeader === undefined ? undefined : headers[keyHeader]
}

const plainToken = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' && /^[\x21-\x7e]{1,256}$/.test(header) ? header : undefined

/**
 * Counts Host headers. Node returns the first of two, but a proxy may have used the other. Names and values alternate
 * in the list.
 */
const countHosts = (rawHeaders: string[]): number => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts
}

/**
 * Adds the checks before the handler: overload first, and then 401, 403, 503, the rate limit, and the format of the
 * request. The body is only read after them.
 */
export const addGate = (app: FastifyInstance, options: Options): void => {
  const { identity, rateLimits, overload, sessionCookie } = options

  const identifyKey = async (request: FastifyRequest, token: string) => {
    const known = await identity.resolve(token, request.id)
    if (known.kind !== 'unknown') return known
    rateLimits.countUnknownKey(request.ip)
    throw unauthorized()
  }

  /**
   * Identifies the session. Browsers also send the cookie with requests from other sites, so a session can only write
   * from this origin.
   */
  const identifySession = async (request: FastifyRequest) => {
    const token = sessionCookie.read(request.headers.cookie)
    if (token === undefined) throw unauthorized()
    const known = await identity.resolveSession(token)
    if (known.kind === 'unknown') throw unauthorized()
    if (!isReading(request)) checkOrigin(request, options)
    return known
  }

  /** Identifies the caller. Most requests come from a recently used key, and don't need a promise. */
  const identify = (request: FastifyRequest): Caller | Promise<Caller> => {
    const { authorization } = request.headers
    const own = ownHeader(request)
    // The header takes precedence, so that a session never substitutes for an invalid key.
    if (authorization === undefined && own === undefined) return identifySession(request)
    const token = authorization === undefined ? plainToken(own) : bearerToken(authorization)
    if (token === undefined) throw unauthorized()
    return identity.recall(token) ?? identifyKey(request, token)
  }

  const admit = (request: FastifyRequest, reply: FastifyReply, access: Exclude<Access, 'public'>, caller: Caller) => {
    if (access === 'service') {
      if (caller.kind !== 'service') throw unauthorized()
      request.service = { kind: 'service', keyId: caller.keyId, ...requestIdsOf(request) }
      rateLimits.spend(caller.keyId ?? 'service', reply)
      return
    }
    if (caller.kind === 'service') {
      throw new ApiError('forbidden', 'A service key can only call /v1/organizations. Use a key of the organization.')
    }
    request.actor = { ...caller.actor, ...requestIdsOf(request) }
    checkAccess(request.actor, access)
    rateLimits.spend(caller.actor.keyId ?? caller.actor.userId, reply)
  }

  const identifyAgain = async (request: FastifyRequest) => {
    const caller = await identify(request)
    const { access } = request.routeOptions.config
    if (caller.kind === 'service' || typeof access !== 'object') throw unauthorized()
    const actor: Actor = { ...caller.actor, ...requestIdsOf(request) }
    checkAccess(actor, access)
    return { actor, expiresAt: caller.expiresAt }
  }
  app.decorate('identifyAgain', identifyAgain)

  const enter = (request: FastifyRequest, reply: FastifyReply): undefined | Promise<void> => {
    const access = request.routeOptions.config.access
    // An unknown path has no route and therefore no access declaration. Its handler returns 404.
    if (access === undefined) return undefined
    if (!alwaysAnswered.has(request.routeOptions.url ?? '')) overload.check()
    if (access === 'public') return undefined
    const caller = identify(request)
    if (caller instanceof Promise) return caller.then((found) => admit(request, reply, access, found))
    admit(request, reply, access, caller)
    return undefined
  }

  const checkForm = (request: FastifyRequest): void => {
    const hosts = countHosts(request.raw.rawHeaders)
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
      throw new ApiError('invalid', 'Send one Host header.')
    }
    checkMediaType(request)
    checkUrlText(request)
  }

  app.decorateRequest('actor')
  app.decorateRequest('service')
  app.addHook('onRequest', (request, reply, done) => {
    try {
      const entered = enter(request, reply)
      if (entered) {
        entered.then(() => checkForm(request)).then(() => done(), done)
        return
      }
      checkForm(request)
    } catch (error) {
      // All values that are thrown here are errors.
      done(error as Error)
      return
    }
    done()
  })
}
