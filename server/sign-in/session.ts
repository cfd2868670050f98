import type { FastifyRequest } from 'fastify'
import { recordAudit } from '../platform/audit/record.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { checkOrigin, isReading } from '../platform/http/origin.ts'
import { hashKey } from '../platform/identity/keys.ts'
import type { Credentials, Library } from './library.ts'
import { findSessionUser, listJoinedAllOrgs, updateSessionOrganization } from './queries.ts'

export type SessionUser = NonNullable<Awaited<ReturnType<typeof findSessionUser>>>

declare module 'fastify' {
  interface FastifyRequest {
    /** The person who sent a request to a route that requires a session. */
    session: SessionUser
  }
}

/** Returns a request's session. Rejects expired sessions, and writes that don't come from a page on this origin. */
export const requireSession = async (deps: Deps, request: FastifyRequest): Promise<SessionUser> => {
  const token = deps.sessionCookie.read(request.headers.cookie)
  const session = token && (await findSessionUser(deps.db, hashKey(token), deps.clock.now()))
  if (!session) throw new ApiError('unauthorized', 'You are not signed in. Sign in first.')
  if (!isReading(request)) checkOrigin(request, deps)
  return session
}

export const shownSession = ({ userId, email, name, org }: SessionUser) => ({
  userId,
  email,
  name,
  organizationId: org,
})

type Opening = {
  /** The organization in which the session starts. By default, the first one that the person joined. */
  org?: OrgId
  /** The sign-in's name in the audit log. Undefined if the request records something else. */
  action?: string
}

type Opened = { token: string; cookies: string[] }

/** Sets the organization of a new session, and records the sign-in. */
const enter = ({ db, clock }: Deps, request: FastifyRequest, { token, cookies }: Opened, opening: Opening) =>
  db.transaction().execute(async (trx) => {
    const session = await findSessionUser(trx, hashKey(token), clock.now())
    if (!session) throw new Error('the sign-in library did not store the session')
    const { id, userId } = session
    const org = opening.org ?? (await listJoinedAllOrgs(trx, userId))[0]?.id ?? null
    if (org) await updateSessionOrganization(trx, id, org)
    if (org && opening.action) {
      const actor = { kind: 'user', org, keyId: null, userId, requestId: request.id } as const
      await recordAudit(trx, actor, opening.action, { type: 'session', id })
    }
    return { session: { ...session, org }, cookies }
  })

/** Signs a person in. Returns undefined if the address and password don't match. */
export const openSession = async (
  deps: Deps,
  library: Library,
  request: FastifyRequest,
  credentials: Credentials,
  opening: Opening,
) => {
  const sender = { address: request.ip, userAgent: request.headers['user-agent'] }
  const opened = await library.signIn(credentials, sender)
  return opened && enter(deps, request, opened, opening)
}
