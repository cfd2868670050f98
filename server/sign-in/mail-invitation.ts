import type { Deps } from '../deps.ts'
import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { sendMail } from '../platform/mail/mail.ts'
import { type Invitation, invitationUrl } from './invite.ts'

const whatFor = (organization: string, byOperator: boolean): string =>
  byOperator
    ? `The operator of Earshot made a link for you. It sets a new password, ends all your sessions and lets you into ${organization}.`
    : `You are invited to join ${organization} on Earshot.`

/** Mails the link of an invitation. Without a mail server nothing is written: whoever made the link hands it over. */
export const mailInvitation = async (
  deps: Pick<Deps, 'jobs' | 'config' | 'clock' | 'secrets' | 'baseUrl'>,
  trx: Db,
  org: OrgId,
  { email, invitation }: { email: string; invitation: Invitation },
  { byOperator = false } = {},
): Promise<void> => {
  if (!deps.config.smtp) return
  const { name } = await getOrganization(trx, org)
  const text = `${whatFor(name.replace(/\s+/g, ' ').trim(), byOperator)}

${invitationUrl(deps.baseUrl(), invitation)}

It works once, until ${invitation.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.
If you did not expect this, you need not do anything.
`
  const subject = byOperator ? 'Your link to a new password for Earshot' : 'Your invitation to Earshot'
  await sendMail(deps, trx, org, { to: [email], subject, text }, { sealWith: deps.secrets })
}
