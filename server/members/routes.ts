import { getOrganization } from '../organizations/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { type Actor, hasRole, type Role } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { invitationUrl, inviteMember } from './invitations/invite.ts'
import { mailInvitation } from './invitations/mail-invitation.ts'
import {
  deleteMember,
  getMember,
  getMemberOfUser,
  insertMember,
  insertUserIfNew,
  listMembers,
  lockMember,
  updateMember,
} from './queries.ts'
import { FreshInvitation, InvitedMember, Me, Member, MemberInvite, MemberUpdate } from './schema.ts'

const tags = ['Members']

/** Throws if the role is above the caller's own, because nobody may assign, change, or remove such a role. */
const checkReach = (actor: Actor, role: Role): void => {
  if (hasRole(actor.role, role)) return
  throw new ApiError('forbidden', `Only a member with the role ${role} can assign or remove that role.`)
}

const checkOwnerRemains = (member: { role: Role; owners: number }, nextRole: Role | undefined): void => {
  if (member.role !== 'owner' || nextRole === 'owner' || member.owners > 1) return
  throw new ApiError(
    'conflict',
    'An organization needs at least one owner who has joined. Make another member an owner first.',
  )
}

export const members = (app: App, deps: Deps): void => {
  const { db, identity, clock, baseUrl, reactions } = deps
  app.get(
    '/v1/me',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getMe',
        summary: 'Get the current caller',
        description: 'Returns the key’s organization, member, and role. Use this to check a key.',
        querystring: NoQuery,
        response: answers({ 200: Me }, 401),
      },
    },
    async ({ actor }) => {
      const [organization, member] = await Promise.all([
        getOrganization(db, actor.org),
        getMemberOfUser(db, actor.org, actor.userId),
      ])
      const { keyId, role, entitlements, features } = actor
      return { organization, member, keyId, role, entitlements, features }
    },
  )

  app.get(
    '/v1/members',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listMembers',
        summary: 'List members',
        description: 'Newest first. Includes people who are invited but have not joined; see `status`.',
        querystring: PageQuery,
        response: answers({ 200: Page(Member) }, 401),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['members', actor.org],
        (page) => listMembers(db, actor.org, page),
        ({ id }) => id,
      ),
  )

  app.get(
    '/v1/members/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getMember',
        summary: 'Get a member',
        description: 'A member who has not joined yet has the status `invited`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Member }, 401, 404),
      },
    },
    ({ actor, params }) => getMember(db, actor.org, params.id),
  )

  app.post(
    '/v1/members',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'inviteMember',
        summary: 'Invite a member',
        description:
          'Send `invitationUrl` to the person. Anyone with the link can join. Only an owner can invite an owner.',
        querystring: NoQuery,
        body: MemberInvite,
        response: answers({ 201: InvitedMember }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      checkReach(actor, body.role)
      const { member, invitation } = await db.transaction().execute(async (trx) => {
        const { email, name, role } = body
        const userId = await insertUserIfNew(trx, { email, name })
        const { id } = await insertMember(trx, actor.org, { id: newId(), userId, email, name, role })
        const invitation = await inviteMember(trx, clock, actor.org, id, { invitedByUserId: actor.userId })
        await mailInvitation(deps, trx, actor.org, { email, invitation })
        await recordAudit(trx, actor, 'member.invite', { type: 'member', id })
        return { member: await getMember(trx, actor.org, id), invitation }
      })
      const answer = { ...member, invitationUrl: invitationUrl(baseUrl(), invitation) }
      return reply.code(201).header('location', `/v1/members/${member.id}`).send(answer)
    },
  )

  app.post(
    '/v1/members/:id/invitation',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'renewInvitation',
        summary: 'Renew an invitation link',
        description: 'The previous link stops working. Returns 409 if the member has already joined.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 201: FreshInvitation }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const invitation = await db.transaction().execute(async (trx) => {
        const member = await lockMember(trx, actor.org, params.id)
        // Anyone with the link can become the member, so the caller needs the member's role.
        checkReach(actor, member.role)
        if (member.joinedAt) throw new ApiError('conflict', 'This member has already joined and needs no invitation.')
        await recordAudit(trx, actor, 'member.invite', { type: 'member', id: member.id })
        const invitation = await inviteMember(trx, clock, actor.org, member.id, { invitedByUserId: actor.userId })
        const { email } = await getMember(trx, actor.org, member.id)
        await mailInvitation(deps, trx, actor.org, { email, invitation })
        return invitation
      })
      const answer = { invitationUrl: invitationUrl(baseUrl(), invitation), invitationExpiresAt: invitation.expiresAt }
      return reply.code(201).header('location', `/v1/members/${params.id}`).send(answer)
    },
  )

  app.patch(
    '/v1/members/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'updateMember',
        summary: 'Update a member’s name or role',
        description:
          'Only an owner can change an owner or make someone an owner. Returns 409 if no owner would be left.',
        params: IdParams,
        querystring: NoQuery,
        body: MemberUpdate,
        response: answers({ 200: Member }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      identity.change(actor.org, async (trx) => {
        const member = await lockMember(trx, actor.org, params.id)
        checkReach(actor, member.role)
        if (body.role) {
          checkReach(actor, body.role)
          checkOwnerRemains(member, body.role)
        }
        await updateMember(trx, actor.org, member.id, body)
        await recordAudit(trx, actor, 'member.update', { type: 'member', id: member.id })
        return getMember(trx, actor.org, member.id)
      }),
  )

  app.delete(
    '/v1/members/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'removeMember',
        summary: 'Remove a member',
        description:
          'Revokes the member’s API keys. Only an owner can remove an owner. Returns 409 if no owner would be left.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      await identity.change(actor.org, async (trx) => {
        const member = await lockMember(trx, actor.org, params.id)
        checkReach(actor, member.role)
        checkOwnerRemains(member, undefined)
        await reactions.memberRemoved(trx, actor.org, { userId: member.userId })
        await deleteMember(trx, actor.org, member.id)
        await recordAudit(trx, actor, 'member.remove', { type: 'member', id: member.id })
      })
      return reply.code(204).send(null)
    },
  )
}
