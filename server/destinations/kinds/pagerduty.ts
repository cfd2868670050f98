import { cut, type Message, type MessageKind } from '../message.ts'
import { jsonRequest, type Write } from './request.ts'

/** See PagerDuty's Events API v2: https://developer.pagerduty.com/docs/events-api-v2/overview */

const pagerdutyUrl = 'https://events.pagerduty.com/v2/enqueue'

const longestSummary = 1_024
const longestLabel = 500

const actions: Record<MessageKind, 'trigger' | 'acknowledge' | 'resolve' | undefined> = {
  opened: 'trigger',
  repeated: 'trigger',
  acknowledged: 'acknowledge',
  resolved: 'resolve',
  test: 'trigger',
  // Nobody has to act on a report, so it is not sent as an event.
  report: undefined,
}

const payloadOf = ({ title, text, severity, facts, examples }: Message, createdAt: Date, source: string) => ({
  summary: cut(`${title}: ${text}`, longestSummary),
  source,
  severity,
  timestamp: createdAt.toISOString(),
  custom_details: {
    ...Object.fromEntries(facts.map(({ label, value }) => [label, value])),
    ...(examples.length > 0 && { 'First examples': examples.map(({ url }) => url) }),
  },
})

export const writePagerduty: Write<{ routingKey: string }> = (message, { routingKey }, about) => {
  const { subjectId, createdAt, baseUrl } = about
  const action = actions[message.kind]
  if (action === undefined) return undefined
  const event = {
    routing_key: routingKey,
    event_action: action,
    dedup_key: `earshot-${subjectId}`,
    client: 'Earshot',
    client_url: message.links[0]?.url ?? baseUrl,
  }
  if (action !== 'trigger') return jsonRequest(pagerdutyUrl, event)
  const links = [...message.links, ...message.examples].map(({ label, url }) => ({
    href: url,
    text: cut(label, longestLabel),
  }))
  return jsonRequest(pagerdutyUrl, { ...event, links, payload: payloadOf(message, createdAt, new URL(baseUrl).host) })
}
