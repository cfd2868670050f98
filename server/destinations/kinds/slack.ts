import { cut, type Link, type Message, severityName } from '../message.ts'
import { jsonRequest, type Write } from './request.ts'

/** Slack's incoming webhooks take Block Kit messages: https://docs.slack.dev/reference/block-kit/blocks */

const longest = { header: 150, section: 3_000, field: 2_000, button: 75, url: 3_000 }
const mostFields = 10
const mostButtons = 5

const icons: Record<Message['kind'], string> = {
  opened: ':rotating_light:',
  repeated: ':rotating_light:',
  acknowledged: ':eyes:',
  resolved: ':white_check_mark:',
  report: ':bar_chart:',
  test: ':wave:',
}

/** Escapes the only three characters that Slack's mrkdwn treats as control characters. */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const linkTo = ({ label, url }: Link): string =>
  `<${url.replaceAll('|', '%7C').replaceAll('>', '%3E')}|${escapeText(label).replaceAll('|', '¦')}>`

/** Formats text. `verbatim` prevents channel and group names, such as `@here`, from notifying anyone. */
const mrkdwn = (text: string, limit: number) => ({ type: 'mrkdwn', text: cut(text, limit), verbatim: true })

const section = (text: string) => ({ type: 'section', text: mrkdwn(text, longest.section) })

const button = ({ label, url }: Link) => ({
  type: 'button',
  text: { type: 'plain_text', text: cut(label, longest.button) },
  url: url.slice(0, longest.url),
})

export const writeSlack: Write<{ url: string }> = (message, { url }) => {
  const { kind, severity, title, text, facts, examples, links } = message
  const fields = facts
    .slice(0, mostFields)
    .map(({ label, value }) => mrkdwn(`*${escapeText(label)}*\n${escapeText(value)}`, longest.field))
  const blocks = [
    { type: 'header', text: { type: 'plain_text', text: cut(title, longest.header), emoji: false } },
    section(`${icons[kind]} ${escapeText(text)}`),
    ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
    ...(examples.length > 0 ? [section(`*First examples*\n${examples.map(linkTo).join('\n')}`)] : []),
    ...(links.length > 0 ? [{ type: 'actions', elements: links.slice(0, mostButtons).map(button) }] : []),
    { type: 'context', elements: [mrkdwn(`${severityName(severity)} · Earshot`, longest.section)] },
  ]
  // Notifications, and clients that can't show blocks, show this text.
  return jsonRequest(url, { text: cut(escapeText(`${title}: ${text}`), longest.section), blocks })
}
