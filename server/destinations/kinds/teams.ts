import { type Chart, chartUrl } from '../chart.ts'
import { cut, type Link, type Message, type Severity, severityName } from '../message.ts'
import { jsonRequest, type Write } from './request.ts'

/**
 * A Microsoft Teams workflow accepts Adaptive Cards: https://learn.microsoft.com/power-automate/overview-adaptive-cards
 */

/** Teams rejects messages above 28 KB. A chart that does not fit is omitted. */
const longestBody = 28_000
const longest = { title: 500, text: 6_000, fact: 1_000, label: 200 }
const most = { facts: 10, examples: 5, actions: 4 }

const colors: Record<Severity, string> = { info: 'Accent', warning: 'Warning', critical: 'Attention' }

const colorOf = ({ kind, severity }: Message): string => (kind === 'resolved' ? 'Good' : colors[severity])

/** Escapes Markdown, which Adaptive Cards partly support. */
const escapeText = (text: string): string => text.replaceAll(/[\\`*_[\]()#+!>~|-]/g, '\\$&')

const textBlock = (text: string, options: object = {}) => ({ type: 'TextBlock', text, wrap: true, ...options })

const linkTo = ({ label, url }: Link): string =>
  `- [${escapeText(cut(label, longest.label))}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`

const cardOf = (message: Message, chart: Chart | undefined) => {
  const { severity, title, text, facts, examples, links } = message
  const shownFacts = facts.slice(0, most.facts).map(({ label, value }) => ({
    title: cut(label, longest.label),
    value: escapeText(cut(value, longest.fact)),
  }))
  const exampleList = examples.slice(0, most.examples).map(linkTo).join('\n')
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      textBlock(escapeText(cut(title, longest.title)), { size: 'Large', weight: 'Bolder', color: colorOf(message) }),
      textBlock(escapeText(cut(text, longest.text))),
      ...(chart ? [{ type: 'Image', url: chartUrl(chart), altText: chart.label }] : []),
      ...(shownFacts.length > 0 ? [{ type: 'FactSet', facts: shownFacts }] : []),
      ...(exampleList === '' ? [] : [textBlock('First examples', { weight: 'Bolder' }), textBlock(exampleList)]),
      textBlock(`${severityName(severity)} · Earshot`, { size: 'Small', isSubtle: true }),
    ],
    actions: links.slice(0, most.actions).map((link) => ({
      type: 'Action.OpenUrl',
      title: cut(link.label, longest.label),
      url: link.url,
    })),
  }
}

export const writeTeams: Write<{ url: string }> = (message, { url }) => {
  const requestWith = (chart: Chart | undefined) =>
    jsonRequest(url, {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: cardOf(message, chart),
        },
      ],
    })
  const request = requestWith(message.chart)
  return message.chart && Buffer.byteLength(request.body) > longestBody ? requestWith(undefined) : request
}
