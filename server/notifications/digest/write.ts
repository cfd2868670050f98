// Writes a digest as an email, as plain text and formatted.

import { cut } from '../../destinations/message.ts'
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

/** Names and titles are people's words, which can contain anything. */
const tidy = (text: string, limit = longestLine): string => cut(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), limit)

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const encode = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')

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

// Mail programs ignore style sheets, so styles are inline, and links have an address of their own.
const htmlOf = ({ sections, baseUrl }: Digest, heading: string, period: string): string => {
  const link = (path: string, text: string) =>
    `<a href="${encode(`${baseUrl}${path}`)}" style="color:#0b6f6a">${text}</a>`
  const parts = sections.map(({ title, lines }) => {
    const items = lines.map(({ text, path }) => `<li style="margin:0 0 6px">${link(path, encode(tidy(text)))}</li>`)
    return `<h2 style="font-size:16px;margin:24px 0 8px">${encode(title)}</h2>
<ul style="margin:0;padding:0 0 0 20px">
${items.join('\n')}
</ul>`
  })
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${encode(heading)}</title></head>
<body style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;max-width:640px">
<h1 style="font-size:20px;margin:0">${encode(heading)}</h1>
<p style="margin:0;color:#555">${encode(period)}</p>
${parts.join('\n')}
<p style="margin:24px 0 0;color:#555">${link('/settings/notifications', 'Change or turn off this digest')}</p>
</body>
</html>
`
}

export const writeDigest = (digest: Digest): Pick<Mail, 'subject' | 'text'> & { html: string } => {
  const heading = `${titles[digest.cadence]}: ${tidy(digest.organization, 100)}`
  const period = periodWords(digest)
  return { subject: heading, text: textOf(digest, heading, period), html: htmlOf(digest, heading, period) }
}
