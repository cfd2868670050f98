import { getOrganization } from '../../organizations/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { countMailsSince } from '../../platform/mail/queries.ts'
import { type Invitation, invitationUrl } from './invite.ts'

/** The purpose of a link: to join, or to set a new password at the request of the operator or the person. */
export type LinkPurpose = 'invitation' | 'operator' | 'forgotten'

const whatFor: Record<LinkPurpose, (organization: string) => string> = {
  invitation: (organization) => `You have been invited to join ${organization} on Earshot.`,
  operator: (organization) =>
    `The operator of Earshot created a link for you. Use it to set a new password and join ${organization}. It ends all your sessions.`,
  forgotten: () =>
    'Someone requested a new password for your Earshot account. Use this link to set it. It ends all your sessions.',
}

const subjectOf: Record<LinkPurpose, string> = {
  invitation: 'Your invitation to Earshot',
  operator: 'Reset your Earshot password',
  forgotten: 'Reset your Earshot password',
}

/**
 * The limit prevents abuse, because anyone who can invite chooses the address and words of an email in the operator's
 * name.
 */
const mostInvitationsAnHour = 100

const assertNotTooMany = async (trx: Db, org: OrgId, now: Date): Promise<void> => {
  const sent = await countMailsSince(trx, org, subjectOf.invitation, new Date(now.getTime() - 3_600_000))
  if (sent < mostInvitationsAnHour) return
  const message = `An organization can send ${mostInvitationsAnHour} invitations per hour. Nothing was changed. Try again later.`
  throw new ApiError('rateLimited', message, { retryAfterSeconds: 600 })
}

/**
 * Sends the link of an invitation by email. Without a mail server, does nothing, because the person who created the
 * link can pass it on.
 */
export const mailInvitation = async (
  deps: Pick<Deps, 'jobs' | 'config' | 'clock' | 'secrets' | 'baseUrl'>,
  trx: Db,
  org: OrgId,
  { email, invitation }: { email: string; invitation: Invitation },
  purpose: LinkPurpose = 'invitation',
): Promise<void> => {
  if (!deps.config.smtp) return
  if (purpose === 'invitation') await assertNotTooMany(trx, org, deps.clock.now())
  const { name } = await getOrganization(trx, org)
  const text = `${whatFor[purpose](name.replace(/\s+/g, ' ').trim())}

${invitationUrl(deps.baseUrl(), invitation)}

The link works once and expires on ${invitation.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.
If you did not expect this email, you can ignore it.
`
  await queueMail(deps, trx, org, { to: [email], subject: subjectOf[purpose], text }, { sealWith: deps.secrets })
}
