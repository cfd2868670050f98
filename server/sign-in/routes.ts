import type { FastifyReply, FastifyRequest } from 'fastify'
import { recordAudit } from '../platform/audit/record.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { checkOrigin } from '../platform/http/origin.ts'
import { limitByAddress } from '../platform/http/rate-limit.ts'
import { answers, Empty, NoBody, NoQuery } from '../platform/http/schemas.ts'
import { isPlaceholder } from './address/placeholder.ts'
import type { SignInDeps } from './deps.ts'
import { accept, getInvitation } from './invitations/accept.ts'
import { loadLibrary } from './load-library.ts'
import {
  deleteSessionsOfUser,
  findPasswordHash,
  listJoinedAllOrgs,
  updatePassword,
  updateSessionOrganization,
} from './queries.ts'
import {
  InvitationAcceptance,
  InvitationCheck,
  InvitationOffer,
  JoinedOrganizations,
  OrganizationSwitch,
  PasswordChange,
  Session,
  SignIn,
} from './schema.ts'
import { openSession, requireSession, shownSession } from './session.ts'
import { requireStrong } from './strength/strength.ts'

const tags = ['Sign-in']

const wrongPassword = () => new ApiError('unauthorized', 'The email address or the password is wrong.')

export const signIn = (app: App, deps: SignInDeps): void => {
  const { db, identity, attempts } = deps
  // The limit is sufficient for an office behind one IP address, and too low for guessing.
  const countAttempt = limitByAddress(
    { perSecond: 0.2, burst: 20 },
    'Too many sign-in attempts from this IP address. Wait a moment.',
  )

  const library = () => loadLibrary(deps)

  app.decorateRequest('session')
  const asSession = async (request: FastifyRequest) => {
    request.session = await requireSession(deps, request)
  }
  /** Rejects requests of other sites, which could otherwise sign their visitors in as someone else. */
  const asVisitor = async (request: FastifyRequest) => {
    if (request.headers.origin !== undefined) checkOrigin(request, deps)
  }
  /** Counts an attempt before the body is read, so that a guess costs the service almost nothing. */
  const asAttempt = async (request: FastifyRequest) => countAttempt(request.ip)

  const sendSession = (reply: FastifyReply, opened: Awaited<ReturnType<typeof openSession>>, device: string) => {
    if (!opened) throw wrongPassword()
    return reply.header('set-cookie', [...opened.cookies, device]).send(shownSession(opened.session))
  }

  app.post(
    '/auth/sign-in/email',
    {
      onRequest: [asVisitor, asAttempt],
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'signIn',
        summary: 'Sign in with email and password',
        description: 'Sets a session cookie that works like an API key on `/v1`.',
        querystring: NoQuery,
        body: SignIn,
        response: answers({ 200: Session }, 400, 401, 403),
      },
    },
    async (request, reply) => {
      const attempt = await attempts.begin(request, request.body.email)
      const opened = await openSession(deps, await library(), request, request.body, { action: 'session.create' })
      if (opened) return sendSession(reply, opened, await attempt.succeed())
      attempt.fail(request.id)
      throw wrongPassword()
    },
  )

  app.post(
    '/auth/sign-out',
    {
      onRequest: asSession,
      config: { access: 'public', unaudited: 'Only signing in is audited.' },
      schema: {
        tags,
        operationId: 'signOut',
        summary: 'Sign out',
        description: 'Requires the session cookie and clears it. Sessions on other devices stay signed in.',
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 204: Empty }, 401, 403),
      },
    },
    async ({ session, headers }, reply) => {
      const cookies = await (await library()).signOut(headers.cookie ?? '')
      // The session is deleted from the database. This makes every process drop it from its cache.
      await identity.change(session.org ?? '', async () => {})
      return reply.code(204).header('set-cookie', cookies).send(null)
    },
  )

  app.post(
    '/auth/sign-out-everywhere',
    {
      onRequest: asSession,
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'signOutEverywhere',
        summary: 'Sign out on all devices',
        description: 'Requires the session cookie and clears it. API keys keep working.',
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 204: Empty }, 401, 403),
      },
    },
    async ({ session, headers, id }, reply) => {
      const cookies = await (await library()).signOut(headers.cookie ?? '')
      // The person's sessions may be in several organizations, so all caches are dropped.
      await identity.change('', async (trx) => {
        await deleteSessionsOfUser(trx, session.userId)
        if (!session.org) return
        const actor = { kind: 'user', org: session.org, keyId: null, userId: session.userId, requestId: id } as const
        await recordAudit(trx, actor, 'user.signOutEverywhere', { type: 'user', id: session.userId })
      })
      return reply.code(204).header('set-cookie', cookies).send(null)
    },
  )

  app.post(
    '/auth/change-password',
    {
      onRequest: [asSession, asAttempt],
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'changePassword',
        summary: 'Change your password',
        description:
          'Requires the session cookie and the current password. Ends all other sessions and sets a new cookie.',
        querystring: NoQuery,
        body: PasswordChange,
        response: answers({ 200: Session }, 400, 401, 403, 409),
      },
    },
    async (request, reply) => {
      const { session, body } = request
      const { hashPassword, verifyPassword } = await library()
      const attempt = await attempts.begin(request, session.email)
      const present = await findPasswordHash(db, session.userId)
      if (present === undefined || !(await verifyPassword(body.currentPassword, present))) {
        attempt.fail(request.id)
        throw invalid('currentPassword', 'is not your current password')
      }
      const device = await attempt.succeed()
      await requireStrong('newPassword', body.newPassword, [session.email, session.name])
      const hash = await hashPassword(body.newPassword)
      // The person's sessions may be in several organizations, so all caches are dropped.
      const org = await identity.change('', async (trx) => {
        if (!(await updatePassword(trx, session.userId, present, hash))) {
          throw new ApiError('conflict', 'The password was just changed. Sign in again.')
        }
        await deleteSessionsOfUser(trx, session.userId)
        // The person may have left the organization of the session.
        const joined = await listJoinedAllOrgs(trx, session.userId)
        const { id: org } = joined.find(({ id }) => id === session.org) ?? joined[0] ?? {}
        if (!org) return undefined
        const actor = { kind: 'user', org, keyId: null, userId: session.userId, requestId: request.id } as const
        await recordAudit(trx, actor, 'user.changePassword', { type: 'user', id: session.userId })
        return org
      })
      const credentials = { email: session.email, password: body.newPassword }
      return sendSession(
        reply,
        await openSession(deps, await library(), request, credentials, org ? { org } : {}),
        device,
      )
    },
  )

  app.post(
    '/auth/invitation/check',
    {
      onRequest: [asVisitor, asAttempt],
      config: { access: 'public', unaudited: 'It changes nothing. The token is in the body to keep it out of logs.' },
      schema: {
        tags,
        operationId: 'checkInvitation',
        summary: 'Get the details of an invitation',
        description: 'Requires only the token from the link. Use it to show who the invitation is for.',
        querystring: NoQuery,
        body: InvitationCheck,
        response: answers({ 200: InvitationOffer }, 400, 403, 410),
      },
    },
    async (request) => {
      const invitation = await getInvitation(deps, request.body.token)
      const { email, invitedEmail, organizationName: organization, byOperator } = invitation
      // The first person of an instance enters their own address.
      const setsEmail = isPlaceholder(email)
      return { email: invitedEmail ?? email, organization, setsPassword: byOperator, setsEmail }
    },
  )

  app.post(
    '/auth/invitation',
    {
      onRequest: [asVisitor, asAttempt],
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation and sign in',
        description:
          'Each link works once. People who already have a password enter it here; a wrong one returns 401. ' +
          'People who use OpenID Connect accept the invitation by signing in with it. A link from the operator sets a ' +
          'new password and ends all other sessions.',
        querystring: NoQuery,
        body: InvitationAcceptance,
        response: answers({ 200: Session }, 400, 401, 403, 409, 410),
      },
    },
    async (request, reply) => {
      const { org, email, device } = await accept(deps, await library(), request, request.body)
      const credentials = { email, password: request.body.password }
      return sendSession(reply, await openSession(deps, await library(), request, credentials, { org }), device)
    },
  )

  app.get(
    '/auth/organizations',
    {
      onRequest: asSession,
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'listJoinedOrganizations',
        summary: 'List the organizations you belong to',
        description: 'Requires the session cookie. For open invitations, use `GET /auth/invitations`.',
        querystring: NoQuery,
        response: answers({ 200: JoinedOrganizations }, 401),
      },
    },
    async ({ session }) => {
      const joined = await listJoinedAllOrgs(db, session.userId)
      return { data: joined.map(({ suspendedAt, ...rest }) => ({ ...rest, suspended: suspendedAt !== null })) }
    },
  )

  app.post(
    '/auth/organization',
    {
      onRequest: asSession,
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'switchOrganization',
        summary: 'Switch organization',
        description:
          'Requires the session cookie. Later requests in this session act in the new organization. Other sessions are unaffected.',
        querystring: NoQuery,
        body: OrganizationSwitch,
        response: answers({ 200: Session }, 400, 401, 403, 404),
      },
    },
    async ({ session, body, id: requestId }) => {
      const joined = await listJoinedAllOrgs(db, session.userId)
      const org = joined.find(({ id }) => id === body.organizationId.toLowerCase())?.id
      if (!org) throw notFound()
      await identity.change(session.org ?? org, async (trx) => {
        await updateSessionOrganization(trx, session.id, org)
        const actor = { kind: 'user', org, keyId: null, userId: session.userId, requestId } as const
        await recordAudit(trx, actor, 'session.switch', { type: 'session', id: session.id })
      })
      return shownSession({ ...session, org })
    },
  )
}
