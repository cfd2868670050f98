// Sends one email to the operator's mail server. This file loads the mail library, so it is only imported when the
// first email is sent.
import { createTransport, type NodemailerError } from 'nodemailer'
import type { Sender, Smtp } from './smtp-url.ts'

/** The time limit of each step. There are only a few, and the job's own time limit covers all of them. */
const stepMs = 15_000
const longestFault = 500

const openTransport = ({ host, port, tls, auth }: Smtp) =>
  createTransport({
    host,
    port,
    ...(auth && { auth }),
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })

export type MailMessage = {
  from: Sender
  recipient: string
  subject: string
  text: string
  /** The formatted version of the text, or null. */
  html: string | null
  /** A unique ID, which is the same for every attempt. */
  id: string
  date: Date
  signal: AbortSignal
}

/** Resolves once the server has accepted the message. */
export const send = async (smtp: Smtp, message: MailMessage): Promise<void> => {
  const { from, recipient, subject, text, html, id, date, signal } = message
  await openTransport(smtp).sendMail({
    from,
    to: { name: '', address: recipient },
    envelope: { from: from.address, to: [recipient] },
    subject,
    text,
    // Images become attachments, because most mail programs don't show any others.
    ...(html !== null && { html, attachDataUrls: true }),
    // This encoding has short lines, so that links stay intact through all servers.
    textEncoding: 'quoted-printable',
    messageId: `<${id}@${from.address.split('@')[1]}>`,
    date,
    headers: { 'Auto-Submitted': 'auto-generated' },
    signal,
  })
}

/** Throws unless the server can be reached and accepts the credentials. */
export const check = async (smtp: Smtp): Promise<void> => {
  await openTransport(smtp).verify()
}

export type MailFault = { text: string; isFinal: boolean }

/** Describes an error of `send`: the step, the response, and whether a retry would lead to the same error. */
export const readFault = (error: unknown): MailFault => {
  const { message, permanent = false, code, responseCode = 0 } = error as NodemailerError
  const text = message.replace(/\p{Cc}+/gu, ' ').slice(0, longestFault)
  // The error is about the email or its recipient. Authentication errors (53x) are about the configuration, which can
  // be fixed.
  const isOfMail = (code === 'EENVELOPE' || code === 'EMESSAGE') && Math.trunc(responseCode / 10) !== 53
  return { text, isFinal: permanent && isOfMail }
}
