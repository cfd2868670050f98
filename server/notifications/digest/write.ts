// Writes a digest as an email, both as plain text and formatted.

import { cut } from '../../destinations/message.ts'
import { encodeHtml, htmlLink, htmlMail } from '../../platform/mail/html.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { Cadence } from '../preferences.ts'
import type { Section } from './summarize.ts'

type Digest = {
  cadence: Cadence
  organization: string
  period: { since: Date; until: Date }
  timezone: string
  sections: Section[]
  baseUrl: string
}

const longestLine = 300

/** Puts text on one line and shortens it, because names and titles can contain anything. */
const tidy = (text: string, limit = longestLine): string => cut(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), limit)

const titles: Record<Cadence, string> = { daily: 'Daily digest', weekly: 'Weekly digest' }

const periodWords = ({ period: { since, until }, timezone }: Digest): string => {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  })
  return `${format.format(since)} to ${format.format(until)} (${timezone})`
}

const textOf = ({ sections, baseUrl }: Digest, heading: string, period: string): string => {
  const parts = sections.map(({ title, lines }) =>
    [title, ...lines.map(({ text, path }) => `- ${tidy(text)}\n  ${baseUrl}${path}`)].join('\n'),
  )
  return `${[heading, period].join('\n')}

${parts.join('\n\n')}

Change or turn off this digest: ${baseUrl}/settings/notifications
`
}

const htmlOf = ({ sections, baseUrl }: Digest, heading: string, period: string): string => {
  const parts = sections.map(({ title, lines }) => {
    const items = lines.map(({ text, path }) => {
      const line = htmlLink(`${baseUrl}${path}`, tidy(text))
      return `<li style="margin:0 0 6px">${line}</li>`
    })
    return `<h2 style="font-size:16px;margin:24px 0 8px">${encodeHtml(title)}</h2>
<ul style="margin:0;padding:0 0 0 20px">
${items.join('\n')}
</ul>`
  })
  const settings = htmlLink(`${baseUrl}/settings/notifications`, 'Change or turn off this digest')
  return htmlMail(heading, [
    `<p style="margin:0;color:#555">${encodeHtml(period)}</p>`,
    ...parts,
    `<p style="margin:24px 0 0;color:#555">${settings}</p>`,
  ])
}

export const writeDigest = (digest: Digest): Pick<Mail, 'subject' | 'text'> & { html: string } => {
  const heading = `${titles[digest.cadence]}: ${tidy(digest.organization, 100)}`
  const period = periodWords(digest)
  return { subject: heading, text: textOf(digest, heading, period), html: htmlOf(digest, heading, period) }
}
