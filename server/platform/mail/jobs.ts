import { isIP } from 'node:net'
import Type from 'typebox'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Db, OrgId } from '../db/database.ts'
import { defineCleanup } from '../jobs/define-cleanup.ts'
import { defineJob, OrganizationId } from '../jobs/define-job.ts'
import type { Log } from '../log.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { endMail, findMail, oldMails, updateMail } from './queries.ts'
import type { Sender } from './smtp-url.ts'

type DeliveryDeps = {
  config: Pick<Config, 'smtp'>
  db: Db
  clock: Clock
  secrets: Secrets
  log: Log
  baseUrl: () => string
}

/** Returns the context in which an email's text is sealed. */
export const mailContext = (org: OrgId, mailId: string): string => `${org}/mail/${mailId}`

/** Returns a sender at the service's host, or at another name if the host is an IP address, which has no mailboxes. */
const defaultSender = (baseUrl: string): Sender => {
  const { hostname } = new URL(baseUrl)
  const host = hostname.startsWith('[') || isIP(hostname) ? 'localhost' : hostname
  return { name: 'Earshot', address: `earshot@${host}` }
}

/**
 * Sends one email. If a process dies after the server accepted the email but before that is recorded, the email is sent
 * again with the same Message-ID. An operator can retry the dead job of a failed email.
 */
export const deliverMail = defineJob({
  name: 'mail.deliver',
  payload: Type.Object({ organizationId: OrganizationId, mailId: Type.String() }),
  // The delays grow from half a minute to an hour, and add up to a day.
  retryLimit: 38,
  retryDelaySeconds: 30,
  timeoutSeconds: 120,
  run: async (deps: DeliveryDeps, { organizationId: org, mailId }, attempt): Promise<void> => {
    const { config, db, clock, secrets, log, baseUrl } = deps
    const { smtp } = config
    const mail = await findMail(db, org, mailId)
    if (!mail || mail.status === 'sent') return
    if (!smtp) return void (await attempt.finish((trx) => endMail(trx, org, mailId, 'kept')))
    const { recipient, subject, html, createdAt: date } = mail
    const text = mail.sealed ? secrets.open(mail.text, mailContext(org, mailId)) : mail.text
    const from = smtp.from ?? defaultSender(baseUrl())
    const { send, readFault } = await import('./smtp.ts')
    try {
      await send(smtp, { from, recipient, subject, text, html, id: mailId, date, signal: attempt.signal })
    } catch (error) {
      attempt.signal.throwIfAborted()
      const fault = readFault(error)
      if (!fault.isFinal) {
        await attempt.transaction((trx) => updateMail(trx, org, mailId, { status: 'queued', error: fault.text }))
        throw new Error(`The mail server rejected an email: ${fault.text}`)
      }
      await attempt.finish((trx) => updateMail(trx, org, mailId, { status: 'failed', error: fault.text }))
      log.warn({ org, mailId, fault: fault.text }, 'an email was rejected')
      return
    }
    await attempt.finish((trx) => updateMail(trx, org, mailId, { status: 'sent', error: null, sentAt: clock.now() }))
  },
  onFailed: async (_deps, { organizationId, mailId }, trx) => {
    await endMail(trx, organizationId, mailId, 'failed')
  },
})

export const sweepMails = defineCleanup({ name: 'mail.sweep', schedule: '40 3 * * *', rows: { mails: oldMails } })
