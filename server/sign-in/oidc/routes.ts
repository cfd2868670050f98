import Type from 'typebox'
import { notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { limitByAddress } from '../../platform/http/rate-limit.ts'
import { answers, Closed, NoQuery } from '../../platform/http/schemas.ts'
import type { SignInDeps } from '../deps.ts'
import { openIssuer, type Refusal, type Visit } from './issuer.ts'
import { enterByOidc } from './sign-in-by-oidc.ts'

const tags = ['Sign-in']

const Ways = Closed({
  password: Type.Boolean(),
  oidc: Type.Boolean({ description: 'Whether `GET /auth/oidc` redirects to an OpenID Connect issuer.' }),
  forgottenPassword: Type.Boolean({ description: 'Whether password reset links can be sent by email.' }),
})

/**
 * The path must lead to a page on this origin. Browsers remove tabs and line breaks from a URL, and treat a backslash
 * as a slash.
 */
const BeginQuery = Closed({
  to: Type.Optional(Type.String({ maxLength: 2_000, pattern: '^/(?!/)[^\\x00-\\x20\\\\\\x7f]*$' })),
})

/** Issuers may add parameters to their response. */
const EndQuery = Type.Record(Type.String(), Type.String({ maxLength: 4_000 }))

const cookieName = 'oidc'
const visitSeconds = 10 * 60

const refusalPage = (refused: Refusal): string => `/sign-in?refused=${refused}`

/** Lets people with an account sign in through OpenID Connect. */
export const signInByOidc = (app: App, deps: SignInDeps): void => {
  const { config, sessionCookie, secrets, clock, log, baseUrl } = deps
  const countAttempt = limitByAddress(
    { perSecond: 0.2, burst: 20 },
    'Too many sign-in attempts from this IP address. Wait a moment.',
  )
  const issuer = config.oidc && openIssuer(config.oidc, (error, message) => log.warn({ err: error }, message))
  const callbackUrl = () => `${baseUrl()}/auth/oidc/callback`

  const sealVisit = (visit: Visit): string =>
    sessionCookie.writeOther(
      cookieName,
      secrets.seal(JSON.stringify({ ...visit, until: clock.now().getTime() + visitSeconds * 1_000 }), 'oidc visit'),
      visitSeconds,
    )

  /** Returns the data that this browser stored, unless it is too old or was modified. */
  const openVisit = (header: string | undefined): Visit | undefined => {
    const sealed = sessionCookie.readOther(header, cookieName)
    if (!sealed) return undefined
    try {
      const { until, ...visit } = JSON.parse(secrets.open(sealed, 'oidc visit'))
      return until > clock.now().getTime() ? visit : undefined
    } catch {
      return undefined
    }
  }

  app.get(
    '/auth/ways',
    {
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'listSignInWays',
        summary: 'List the available sign-in methods',
        description: 'Requires no session. Use it to show only the options that work on this server.',
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
      if (!issuer) throw notFound()
      countAttempt(request.ip)
      const begun = await issuer.begin(callbackUrl(), request.query.to ?? '/')
      if ('refused' in begun) return reply.redirect(refusalPage(begun.refused))
      return reply.header('set-cookie', sealVisit(begun.visit)).redirect(begun.url)
    },
  )

  app.get(
    '/auth/oidc/callback',
    { config: { access: 'public', foreign: true }, schema: { hide: true, querystring: EndQuery } },
    async (request, reply) => {
      if (!issuer) throw notFound()
      countAttempt(request.ip)
      const visit = openVisit(request.headers.cookie)
      if (!visit) return reply.redirect(refusalPage('expired'))
      const url = new URL(`?${new URLSearchParams(request.query)}`, callbackUrl())
      const identity = await issuer.end(url, visit)
      const entered = 'refused' in identity ? identity : await enterByOidc(deps, request, identity)
      const visitOver = sessionCookie.writeOther(cookieName, '', 0)
      if ('refused' in entered) return reply.header('set-cookie', visitOver).redirect(refusalPage(entered.refused))
      const { to } = visit
      const page = entered.isInvited ? `/invitations?to=${encodeURIComponent(to)}` : to
      return reply.header('set-cookie', [...entered.cookies, visitOver]).redirect(page)
    },
  )
}
