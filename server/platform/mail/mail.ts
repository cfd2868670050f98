import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Db, OrgId } from '../db/database.ts'
import { invalid } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Jobs } from '../jobs/queue.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { deliverMail, mailContext } from './jobs.ts'
import { insertMails } from './queries.ts'
import { isAddress } from './smtp-url.ts'

type MailDeps = { jobs: Pick<Jobs, 'enqueueMany'>; config: Pick<Config, 'smtp'>; clock: Clock }

/**
 * `to` contains plain addresses, each of which gets a separate email. `text` is plain text, and its lines can have any
 * length. `html` is the formatted version of the same text.
 */
export type Mail = { to: string[]; subject: string; text: string; html?: string }

type MailOptions = {
  /**
   * Encrypts the text while it is stored. This is for text that grants access to its reader, such as an invitation
   * link.
   */
  sealWith?: Secrets
}

const mostRecipients = 100
const longestSubject = 250
const longestText = 100_000

const check = ({ to, subject, text, html = '' }: Mail): void => {
  if (to.length > mostRecipients) throw invalid('to', `must have at most ${mostRecipients} addresses`)
  for (const [index, address] of to.entries()) {
    if (!isAddress(address)) throw invalid(`to[${index}]`, 'must be one email address, without a name')
  }
  if (/\p{Cc}/u.test(subject)) throw invalid('subject', 'must not contain line breaks or control characters')
  if (subject.length > longestSubject) throw invalid('subject', `must have at most ${longestSubject} characters`)
  if (text.length > longestText) throw invalid('text', `must have at most ${longestText} characters`)
  if (html.length > longestText) throw invalid('html', `must have at most ${longestText} characters`)
}

/**
 * Stores an email in the caller's transaction, and a job sends it. A repeated address gets one email. Without a mail
 * server, emails are stored but never sent.
 */
export const queueMail = async (
  { jobs, config, clock }: MailDeps,
  trx: Db,
  org: OrgId,
  mail: Mail,
  { sealWith }: MailOptions = {},
): Promise<void> => {
  check(mail)
  if (sealWith && mail.html !== undefined) throw new Error('A formatted email cannot be sealed.')
  const recipients = new Map(mail.to.map((address) => [address.toLowerCase(), address]))
  if (recipients.size === 0) return
  // Only some mail servers treat a single CR as the end of a line.
  const text = mail.text.replace(/\r\n?/g, '\n')
  const status = config.smtp ? 'queued' : 'kept'
  const mails = [...recipients.values()].map((recipient) => {
    const id = newId()
    const stored = sealWith ? sealWith.seal(text, mailContext(org, id)) : text
    const { subject, html = null } = mail
    return {
      id,
      recipient,
      subject,
      text: stored,
      html,
      sealed: sealWith !== undefined,
      status,
      createdAt: clock.now(),
    } as const
  })
  await insertMails(trx, org, mails)
  if (status === 'kept') return
  await jobs.enqueueMany(
    trx,
    deliverMail,
    mails.map(({ id }) => ({ organizationId: org, mailId: id })),
  )
}
