import type { FastifyRequest } from 'fastify'
import { deleteMember, lockMember } from '../../members/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, NoQuery } from '../../platform/http/schemas.ts'
import { updateJoined, updateSessionOrganization } from '../queries.ts'
import { OrganizationSwitch, OwnInvitations, Session } from '../schema.ts'
import { requireSession, type SessionUser, shownSession } from '../session.ts'
import { listInvitedAllOrgs } from './queries.ts'

const tags = ['Sign-in']

/** Lets people with a verified address accept their invitations without a link. */
export const ownInvitations = (app: App, deps: Deps): void => {
  const { db, identity, clock, reactions } = deps
  const asSession = async (request: FastifyRequest) => {
    request.session = await requireSession(deps, request)
  }

  const getInvited = async (trx: Db, { userId }: SessionUser, organizationId: string) => {
    const invited = await listInvitedAllOrgs(trx, userId)
    const found = invited.find(({ id }) => id === organizationId.toLowerCase())
    if (!found) throw notFound()
    const member = await lockMember(trx, found.id, found.memberId)
    // The invitation may have been accepted in the meantime.
    if (member.joinedAt) throw notFound()
    return { ...found, isOnlyOwner: member.role === 'owner' && member.owners <= 1 }
  }

  app.get(
    '/auth/invitations',
    {
      onRequest: asSession,
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'listOwnInvitations',
        summary: 'List your invitations',
        description:
          'Empty unless an OpenID Connect issuer has verified your email address. Otherwise, use the invitation link.',
        querystring: NoQuery,
        response: answers({ 200: OwnInvitations }, 401),
      },
    },
    async ({ session }) => {
      const invited = await listInvitedAllOrgs(db, session.userId)
      return {
        data: invited.map(({ id, name, role, invitedAt }) => ({
          organizationId: id,
          organization: name,
          role,
          invitedAt,
        })),
      }
    },
  )

  app.post(
    '/auth/invitations/accept',
    {
      onRequest: asSession,
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'acceptOwnInvitation',
        summary: 'Accept an invitation and switch to its organization',
        description: 'Requires the session cookie. Returns 404 if the organization has not invited you.',
        querystring: NoQuery,
        body: OrganizationSwitch,
        response: answers({ 200: Session }, 400, 401, 403, 404),
      },
    },
    ({ session, body, id: requestId }) =>
      identity.change('', async (trx) => {
        const { id: org, memberId, memberName, invitedByUserId } = await getInvited(trx, session, body.organizationId)
        await updateJoined(trx, org, memberId, memberName, clock.now())
        await updateSessionOrganization(trx, session.id, org)
        const actor = { kind: 'user', org, keyId: null, userId: session.userId, requestId } as const
        await recordAudit(trx, actor, 'member.join', { type: 'member', id: memberId })
        await reactions.memberJoined(trx, org, { memberId, userId: session.userId, invitedByUserId })
        return shownSession({ ...session, org })
      }),
  )

  app.post(
    '/auth/invitations/decline',
    {
      onRequest: asSession,
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'declineOwnInvitation',
        summary: 'Decline an invitation',
        description: 'Requires the session cookie. Returns 409 if you are the organization’s only owner.',
        querystring: NoQuery,
        body: OrganizationSwitch,
        response: answers({ 204: Empty }, 400, 401, 403, 404, 409),
      },
    },
    async ({ session, body, id: requestId }, reply) => {
      const { userId } = session
      await identity.change('', async (trx) => {
        const { id: org, memberId, isOnlyOwner } = await getInvited(trx, session, body.organizationId)
        if (isOnlyOwner) {
          throw new ApiError('conflict', 'You are the only owner of this organization, so you cannot decline.')
        }
        await reactions.memberRemoved(trx, org, { userId })
        await deleteMember(trx, org, memberId)
        const actor = { kind: 'user', org, keyId: null, userId, requestId } as const
        await recordAudit(trx, actor, 'member.decline', { type: 'member', id: memberId })
      })
      return reply.code(204).send(null)
    },
  )
}
