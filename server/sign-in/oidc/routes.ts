import Type from 'typebox'
import type { Deps } from '../../deps.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { limitByAddress } from '../../platform/http/rate-limit.ts'
import { answers, Closed, NoQuery } from '../../platform/http/schemas.ts'
import { forgetLibrary, loadLibrary } from '../load-library.ts'
import { enterByOidc } from './enter.ts'

const tags = ['Sign-in']

const Ways = Closed({
  password: Type.Boolean(),
  oidc: Type.Boolean({ description: 'Whether `GET /auth/oidc` leads to an issuer of OpenID Connect.' }),
  forgottenPassword: Type.Boolean({ description: 'Whether a link to a new password can be sent by mail.' }),
})

/** A page of this origin alone. Browsers drop tabs and line ends from an address, and take a backslash for a slash. */
const BeginQuery = Closed({
  to: Type.Optional(Type.String({ maxLength: 2_000, pattern: '^/(?!/)[^\\x00-\\x20\\\\\\x7f]*$' })),
})

/** What an issuer adds to its answer is its own matter. */
const EndQuery = Type.Record(Type.String(), Type.String({ maxLength: 4_000 }))

/** Why nobody was let in, in a word that the page of signing in knows. */
const refusalOf = (location: string): string => {
  const reason = new URL(location, 'http://here').searchParams.get('error') ?? ''
  if (/signup|not_linked|not_found|unable_to_link/i.test(reason)) return 'unknown'
  return /verif/i.test(reason) ? 'unverified' : 'failed'
}

/** Signing in by an issuer of OpenID Connect, for whoever has an account. */
export const signInByOidc = (app: App, deps: Deps): void => {
  const { config, sessionCookie } = deps
  const countAttempt = limitByAddress(
    { perSecond: 0.2, burst: 20 },
    'Too many attempts to sign in from this address; wait a little.',
  )

  app.get(
    '/auth/ways',
    {
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'listSignInWays',
        summary: 'Tell by which ways one can sign in here',
        querystring: NoQuery,
        response: answers({ 200: Ways }),
      },
    },
    async () => ({ password: true, oidc: config.oidc !== undefined, forgottenPassword: config.smtp !== undefined }),
  )

  app.get(
    '/auth/oidc',
    { config: { access: 'public' }, schema: { hide: true, querystring: BeginQuery } },
    async (request, reply) => {
      if (!config.oidc) throw notFound()
      countAttempt(request.ip)
      const library = await loadLibrary(deps)
      const begun = await library.beginOidc(request.query.to ?? '/')
      if (!begun) {
        forgetLibrary(deps)
        throw new ApiError('unavailable', 'The issuer cannot be reached now; try again shortly.', {
          retryAfterSeconds: 5,
        })
      }
      return reply.header('set-cookie', begun.cookies).redirect(begun.url)
    },
  )

  app.get(
    '/auth/oidc/callback',
    { config: { access: 'public', foreign: true }, schema: { hide: true, querystring: EndQuery } },
    async (request, reply) => {
      if (!config.oidc) throw notFound()
      countAttempt(request.ip)
      const sender = { address: request.ip, userAgent: request.headers['user-agent'] }
      const library = await loadLibrary(deps)
      const { location, cookies } = await library.endOidc(request.query, request.headers.cookie ?? '', sender)
      reply.header('set-cookie', cookies)
      const token = sessionCookie.read(cookies.map((cookie) => cookie.split(';', 1)[0]).join('; '))
      if (token === undefined) return reply.redirect(`/sign-in?refused=${refusalOf(location)}`)
      await enterByOidc(deps, request, { token, cookies })
      return reply.redirect(location)
    },
  )
}
