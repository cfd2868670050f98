import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'

/**
 * What every answer carries. The interface serves data, not pages: nothing may run, frame or cache it. Documents
 * served from here replace the policy with their own. There are no CORS headers: other origins' scripts stay out.
 */
export const addSecurityHeaders = (app: FastifyInstance, { baseUrl }: Pick<Config, 'baseUrl'>): void => {
  const headers: [string, string][] = [
    ['X-Content-Type-Options', 'nosniff'],
    ['X-Frame-Options', 'DENY'],
    ['Referrer-Policy', 'no-referrer'],
    ['Cross-Origin-Resource-Policy', 'same-site'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Cache-Control', 'no-store'],
  ]
  if (baseUrl?.startsWith('https:')) headers.push(['Strict-Transport-Security', 'max-age=31536000'])
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.setHeader('X-Request-Id', request.id)
    for (const [name, value] of headers) reply.raw.setHeader(name, value)
    done()
  })
}
