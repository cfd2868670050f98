import type { FastifyInstance, HTTPMethods } from 'fastify'
import { ApiError } from '../errors.ts'

const known: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

/**
 * Answers the methods that an address does not have with 405 and `Allow`, instead of denying the address.
 * Returns what is to be called when all routes are there.
 */
export const watchMethods = (app: FastifyInstance): (() => void) => {
  const taken = new Map<string, Set<HTTPMethods>>()
  app.addHook('onRoute', (route) => {
    const methods = taken.get(route.url) ?? new Set()
    for (const method of [route.method].flat()) methods.add(method as HTTPMethods)
    taken.set(route.url, methods)
  })
  return () => {
    for (const [url, methods] of [...taken]) {
      const allow = [...methods].sort().join(', ')
      app.route({
        method: known.filter((method) => !methods.has(method)),
        url,
        config: { access: 'public' },
        schema: { hide: true },
        handler: (_request, reply) => {
          reply.header('allow', allow)
          throw new ApiError('methodNotAllowed', `This address takes ${allow}.`)
        },
      })
    }
  }
}
