import { cut, renderText, type Severity } from '../message.ts'
import { jsonRequest, type Write } from './request.ts'

/** See Opsgenie's Alert API: https://docs.opsgenie.com/docs/alert-api */

export const opsgenieUrls = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const

export type OpsgenieSettings = { apiKey: string; region: keyof typeof opsgenieUrls }

const longest = { message: 130, description: 15_000, note: 25_000, details: 8_000 }

const priorities: Record<Severity, string> = { critical: 'P1', warning: 'P3', info: 'P5' }

/** Returns the first facts, as many as fit into Opsgenie's limit. */
const fittingDetails = (facts: { label: string; value: string }[]): Record<string, string> => {
  const details: Record<string, string> = {}
  let left = longest.details
  for (const { label, value } of facts) {
    left -= label.length + value.length
    if (left >= 0) details[label] = value
  }
  return details
}

export const writeOpsgenie: Write<OpsgenieSettings> = (message, { apiKey, region }, { subjectId }) => {
  const headers = { authorization: `GenieKey ${apiKey}` }
  const alias = `earshot-${subjectId}`
  const { kind, title, severity, facts } = message
  const update = (verb: string) =>
    jsonRequest(
      `${opsgenieUrls[region]}/v2/alerts/${alias}/${verb}?identifierType=alias`,
      { source: 'Earshot', note: cut(`${title}\n\n${renderText(message)}`, longest.note) },
      headers,
    )
  if (kind === 'acknowledged') return update('acknowledge')
  if (kind === 'resolved') return update('close')
  // Nobody has to act on a report, so it is not sent as an alert.
  if (kind === 'report') return undefined
  const alert = {
    message: cut(title, longest.message),
    alias,
    description: cut(renderText(message), longest.description),
    details: fittingDetails(facts),
    source: 'Earshot',
    priority: priorities[severity],
  }
  return jsonRequest(`${opsgenieUrls[region]}/v2/alerts`, alert, headers)
}
