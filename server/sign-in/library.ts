// Configures the sign-in library. Loading the library takes tens of megabytes and a moment, so nothing imports this
// file at startup.

import { kyselyAdapter } from '@better-auth/kysely-adapter'
import type { BetterAuthOptions } from 'better-auth'
import { isAPIError } from 'better-auth/api'
import { betterAuth } from 'better-auth/minimal'
import type { Deps } from '../platform/deps.ts'
import { sessionSeconds } from '../platform/identity/session-cookie.ts'
import { newId } from '../platform/ids.ts'
import { withHashedTokens } from './hashed-tokens.ts'

export type LibraryDeps = Pick<Deps, 'db' | 'log' | 'baseUrl' | 'sessionCookie'>

const configure = ({ db, log, baseUrl, sessionCookie }: LibraryDeps) =>
  betterAuth({
    appName: 'Earshot',
    baseURL: baseUrl(),
    basePath: '/auth',
    secret: sessionCookie.secret,
    // This is set explicitly, because the library would otherwise read its own environment variable.
    secrets: [{ version: 1, value: sessionCookie.secret }],
    database: (options: BetterAuthOptions) =>
      withHashedTokens(kyselyAdapter(db, { type: 'postgres', transaction: true })(options)),
    trustedOrigins: [],
    telemetry: { enabled: false },
    experimental: { instrumentation: { enabled: false } },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      // The limits are in UTF-16 units. The routes count characters.
      minPasswordLength: 12,
      maxPasswordLength: 512,
    },
    // The library's errors are logged, but not its lines about failed attempts, because they don't help anyone.
    logger: {
      level: 'error',
      log: (_level, message) => log.error({ library: 'better-auth' }, message),
    },
    advanced: {
      cookiePrefix: sessionCookie.prefix,
      // Otherwise, the library would add `__Secure-` before the prefix.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: sessionCookie.secure },
      database: { generateId: newId, validateSchema: false },
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    session: {
      modelName: 'sessions',
      expiresIn: sessionSeconds,
      disableSessionRefresh: true,
      fields: {
        userId: 'user_id',
        token: 'token_hash',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    account: {
      modelName: 'accounts',
      fields: {
        userId: 'user_id',
        providerId: 'provider_id',
        accountId: 'account_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
  })

export type Credentials = { email: string; password: string }
type Sender = { address: string; userAgent: string | undefined }

/** Opens the library. Only some of its functions are used, and none of its endpoints are served. */
export const openLibrary = async (deps: LibraryDeps) => {
  const auth = configure(deps)
  const { password } = await auth.$context
  return {
    hashPassword: password.hash,
    verifyPassword: (given: string, hash: string) => password.verify({ hash, password: given }),
    /** Opens a session. Returns undefined if the address and password don't match. */
    signIn: async ({ email, password }: Credentials, { address, userAgent }: Sender) => {
      const headers = { 'x-forwarded-for': address, ...(userAgent && { 'user-agent': userAgent }) }
      try {
        const answer = await auth.api.signInEmail({ body: { email, password }, headers, returnHeaders: true })
        return { token: answer.response.token, cookies: answer.headers.getSetCookie() }
      } catch (error) {
        if (isAPIError(error) && error.statusCode === 401) return undefined
        throw error
      }
    },
    /** Ends the session in a cookie. Returns the cookies that replace it. */
    signOut: async (cookie: string) => {
      const { headers } = await auth.api.signOut({ headers: { cookie }, returnHeaders: true })
      return headers.getSetCookie()
    },
    /** All paths that the library would serve. */
    paths: Object.values(auth.api).map(({ path }) => path),
  }
}

export type Library = Awaited<ReturnType<typeof openLibrary>>
