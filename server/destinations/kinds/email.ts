import { encodeHtml, htmlLink, htmlMail } from '../../platform/mail/html.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import { chartUrl } from '../chart.ts'
import { cut, type Link, type Message, renderText, severityName } from '../message.ts'

const longestSubject = 200

const paragraph = (html: string): string => `<p style="margin:12px 0 0">${html}</p>`

const list = (links: Link[]): string => paragraph(links.map(({ label, url }) => htmlLink(url, label)).join('<br>'))

const htmlOf = (message: Message): string => {
  const { severity, title, text, facts, examples, links, chart } = message
  const rows = facts.map(
    ({ label, value }) =>
      `<tr><td style="padding:0 16px 0 0;color:#555">${encodeHtml(label)}</td><td>${encodeHtml(value)}</td></tr>`,
  )
  return htmlMail(title, [
    `<p style="margin:0;color:#555">${severityName(severity)}</p>`,
    paragraph(encodeHtml(text)),
    ...(chart
      ? [
          paragraph(`<img src="${chartUrl(chart)}" alt="${encodeHtml(chart.label)}" width="480" height="120">`),
          `<p style="margin:0;color:#555">${encodeHtml(chart.label)}</p>`,
        ]
      : []),
    ...(rows.length > 0 ? [`<table style="margin:12px 0 0;font-size:14px">${rows.join('')}</table>`] : []),
    ...(examples.length > 0 ? [paragraph('First examples:'), list(examples)] : []),
    ...(links.length > 0 ? [list(links)] : []),
  ])
}

export const writeEmail = (message: Message): Omit<Mail, 'to'> => ({
  subject: cut(message.title.replaceAll(/\p{Cc}+/gu, ' '), longestSubject),
  text: `${renderText(message)}\n`,
  html: htmlOf(message),
})
