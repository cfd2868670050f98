import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import { type Access, checkAccess } from './access.ts'
import { checkMediaType, checkUrlText } from './body.ts'
import type { Overload } from './overload.ts'
import type { RateLimits } from './rate-limit.ts'

type Options = { identity: Identity; rateLimits: RateLimits; overload: Overload }

const unauthorized = () =>
  new ApiError(
    'unauthorized',
    'Send a valid API key as `Authorization: Bearer <API_KEY>`; keys are made in the settings.',
  )

/** The key of a request, by the Authorization header's own grammar. */
const bearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +([\x21-\x7e]{1,256})$/i.exec(header ?? '')?.[1]

/**
 * What stands between the socket and a handler, in the order of the contract: 401, 403, 503, then the form of the
 * request. Nothing of the body is read before it is passed.
 */
export const addGate = (app: FastifyInstance, { identity, rateLimits, overload }: Options): void => {
  const identify = async (request: FastifyRequest) => {
    const token = bearerToken(request.headers.authorization)
    if (token === undefined) throw unauthorized()
    const known = await identity.resolve(token)
    if (known.kind !== 'unknown') return known
    rateLimits.countUnknownKey(request.ip)
    throw unauthorized()
  }

  const enterAsService = async (request: FastifyRequest) => {
    const known = await identify(request)
    if (known.kind !== 'service') throw unauthorized()
    request.service = { kind: 'service', keyId: known.keyId, requestId: request.id }
  }

  const enterOrganization = async (request: FastifyRequest, reply: FastifyReply, access: Exclude<Access, string>) => {
    const known = await identify(request)
    if (known.kind !== 'key') {
      throw new ApiError(
        'forbidden',
        "A service key reaches /v1/organizations alone; use one of the organization's own.",
      )
    }
    rateLimits.spend(known.actor.keyId ?? known.actor.userId, reply)
    request.actor = { ...known.actor, requestId: request.id }
    checkAccess(request.actor, access)
  }

  app.decorateRequest('actor')
  app.decorateRequest('service')
  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access
    // An unknown address has no route and no access; its handler answers 404.
    if (access !== undefined && access !== 'public') {
      overload.check()
      if (access === 'service') await enterAsService(request)
      else await enterOrganization(request, reply, access)
    }
    checkMediaType(request)
    checkUrlText(request)
  })
}
