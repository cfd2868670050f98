import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { shownRequestId } from './request-id.ts'

/**
 * The headers on every response. The API serves data rather than pages, so nothing may run, frame, or cache it. This
 * service's documents replace the policy. There are no CORS headers, so scripts from other origins have no access.
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-site',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

export const addSecurityHeaders = (app: FastifyInstance, { baseUrl }: Pick<Config, 'baseUrl'>): void => {
  const headers = {
    ...securityHeaders,
    ...(baseUrl?.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ ...headers, 'x-request-id': shownRequestId(request) })
    done()
  })
}
