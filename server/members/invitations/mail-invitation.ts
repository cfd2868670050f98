import { getOrganization } from '../../organizations/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { sendMail } from '../../platform/mail/mail.ts'
import { countMailsSince } from '../../platform/mail/queries.ts'
import { type Invitation, invitationUrl } from './invite.ts'

/** Why a link is sent: to join, or to set a new password, which the operator made or the person asked for. */
export type LinkPurpose = 'invitation' | 'operator' | 'forgotten'

const whatFor: Record<LinkPurpose, (organization: string) => string> = {
  invitation: (organization) => `You are invited to join ${organization} on Earshot.`,
  operator: (organization) =>
    `The operator of Earshot made a link for you. It sets a new password, ends all your sessions and lets you into ${organization}.`,
  forgotten: () =>
    'Somebody asked for a new password for your account on Earshot. This link sets it, and ends all your sessions.',
}

const subjectOf: Record<LinkPurpose, string> = {
  invitation: 'Your invitation to Earshot',
  operator: 'Your link to a new password for Earshot',
  forgotten: 'Your link to a new password for Earshot',
}

/** Whoever may invite chooses the address and words of a mail that goes out in the operator's name. */
const mostInvitationsAnHour = 100

const assertNotTooMany = async (trx: Db, org: OrgId, now: Date): Promise<void> => {
  const sent = await countMailsSince(trx, org, subjectOf.invitation, new Date(now.getTime() - 3_600_000))
  if (sent < mostInvitationsAnHour) return
  const message = `An organization mails ${mostInvitationsAnHour} invitations in an hour. Nothing was changed; invite again later.`
  throw new ApiError('rateLimited', message, { retryAfterSeconds: 600 })
}

/** Mails the link of an invitation. Without a mail server nothing is written: whoever made the link hands it over. */
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

It works once, until ${invitation.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.
If you did not expect this, you need not do anything.
`
  await sendMail(deps, trx, org, { to: [email], subject: subjectOf[purpose], text }, { sealWith: deps.secrets })
}
