import type { Chart } from './chart.ts'

/** A message before it is formatted for a kind of destination. It contains no text from conversations. */

export type Severity = 'info' | 'warning' | 'critical'

/**
 * - `opened`: something needs attention. `repeated` says that it still does.
 * - `acknowledged`: someone is looking into it.
 * - `resolved`: it is over.
 * - `report`: something to read, such as a digest. Nothing has to be done.
 * - `test`: somebody wants to know whether the destination works.
 */
export const messageKinds = ['opened', 'repeated', 'acknowledged', 'resolved', 'report', 'test'] as const
export type MessageKind = (typeof messageKinds)[number]

/** A link with its label. */
export type Link = { label: string; url: string }

export type Message = {
  kind: MessageKind
  severity: Severity
  title: string
  /** One or a few sentences. */
  text: string
  facts: { label: string; value: string }[]
  /** The conversations that the reader should open first. */
  examples: Link[]
  links: Link[]
  /** The measure over time. Only destinations that can show an image include it. */
  chart?: Chart
  /** The event that a webhook endpoint receives instead of the message. */
  event?: { type: string; data: object }
}

const severityNames: Record<Severity, string> = { info: 'Info', warning: 'Warning', critical: 'Critical' }

export const severityName = (severity: Severity): string => severityNames[severity]

const ellipsis = '…'

/** Shortens text to at most `limit` UTF-16 units without splitting a character. */
export const cut = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const end = limit - ellipsis.length
  const isInside = /[\ud800-\udbff]/.test(text.charAt(end - 1))
  return text.slice(0, isInside ? end - 1 : end) + ellipsis
}

/** Returns the message as plain text, for emails and for the details of an incident. */
export const renderText = ({ text, facts, examples, links }: Message): string => {
  const listed = (items: Link[]) => items.map(({ label, url }) => `${label}\n  ${url}`)
  const parts = [
    [text],
    facts.map(({ label, value }) => `${label}: ${value}`),
    examples.length > 0 ? ['First examples:', ...listed(examples)] : [],
    listed(links),
  ]
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}
