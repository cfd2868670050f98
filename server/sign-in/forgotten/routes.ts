import { setTimeout as sleep } from 'node:timers/promises'
import { inviteMember } from '../../members/invitations/invite.ts'
import { mailInvitation } from '../../members/invitations/mail-invitation.ts'
import { lockMember } from '../../members/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { hourMs } from '../../platform/durations.ts'
import { ApiError } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { checkOrigin } from '../../platform/http/origin.ts'
import { limitByAddress } from '../../platform/http/rate-limit.ts'
import { answers, Closed, Email, Empty, NoQuery } from '../../platform/http/schemas.ts'
import { findJoinedByEmailAllOrgs, findLinkMadeAt } from '../queries.ts'

/** The pause between two emails, so that nobody can flood a mailbox just by knowing its address. */
const pauseMs = 5 * 60_000
/** The response takes at least this long, so that its timing does not reveal whether the address is known. */
const leastMs = 250

/** Emails a link for a new password to the address of an account. */
export const forgottenPassword = (app: App, deps: Deps): void => {
  const { db, clock, config } = deps
  const countAttempt = limitByAddress(
    { perSecond: 0.05, burst: 10 },
    'Too many requests for links from this IP address. Wait a moment.',
  )

  const sendLink = async (email: string, requestId: string): Promise<void> => {
    const member = await findJoinedByEmailAllOrgs(db, email)
    if (!member) return
    const { org, memberId, userId } = member
    await db.transaction().execute(async (trx) => {
      await lockMember(trx, org, memberId)
      const madeAt = await findLinkMadeAt(trx, org, memberId)
      if (madeAt && clock.now().getTime() - madeAt.getTime() < pauseMs) return
      const invitation = await inviteMember(trx, clock, org, memberId, { byOperator: true, lifetimeMs: hourMs })
      await mailInvitation(deps, trx, org, { email: member.email, invitation }, 'forgotten')
      const actor = { kind: 'user', org, keyId: null, userId, requestId } as const
      await recordAudit(trx, actor, 'user.forgetPassword', { type: 'user', id: userId })
    })
  }

  app.post(
    '/auth/forgotten-password',
    {
      onRequest: async (request) => {
        if (request.headers.origin !== undefined) checkOrigin(request, deps)
        // This runs before the body is read, so that an attempt costs the service almost nothing.
        countAttempt(request.ip)
      },
      config: { access: 'public', unaudited: 'It is audited if the address belongs to a member.' },
      schema: {
        tags: ['Sign-in'],
        operationId: 'forgetPassword',
        summary: 'Request a password reset link',
        description:
          'The response is the same whether or not the address has an account. The link works once, for an ' +
          'hour, and ends all sessions. Returns 409 if no mail server is configured; the operator can create ' +
          'the link instead.',
        querystring: NoQuery,
        body: Closed({ email: Email }),
        response: answers({ 202: Empty }, 400, 403, 409),
      },
    },
    async ({ body, id }, reply) => {
      if (!config.smtp) {
        throw new ApiError('conflict', 'Earshot cannot send email. Ask the operator for a link.')
      }
      await Promise.all([sendLink(body.email, id), sleep(leastMs)])
      return reply.code(202).send(undefined)
    },
  )
}
