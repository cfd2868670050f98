import { metadataIssues } from '../conversations/ingest/from-body.ts'
import type { AgentReference, Incoming, VersionReference } from '../conversations/ingest/incoming.ts'
import type { ProviderCall } from '../transcripts/provider-calls/call.ts'
import { cut, cutMetrics, longestText } from './limits.ts'
import type { IntegrationSettings } from './settings.ts'

/** Converts a provider's call to a conversation for storage, and keeps it within the limits of requests. */

type Integration = { id: string; provider: string; name: string; settings: IntegrationSettings }
type Bounds = { now: Date; metadataBytes: number }

const longestPrompt = 1_000_000
const longestAddress = 8_192
const longestMetadataKey = 120
/** The maximum amount by which a sender's clock can be ahead. */
const aheadMs = 5 * 60_000

const shortText = (text: string | null): string | null => (text === null ? null : cut(text))

const agentOf = (call: ProviderCall, { id, name, settings }: Integration): AgentReference => {
  const channel = call.channel === 'chat' ? 'text' : 'voice'
  if (call.agentExternalId !== null) {
    const shown = (call.agentName ?? '').trim() || call.agentExternalId
    return { externalId: call.agentExternalId, make: { name: cut(shown), channel } }
  }
  if (settings.agentId !== undefined) return { id: settings.agentId }
  return { externalId: `integration:${id}`, make: { name, channel } }
}

const versionOf = ({ systemPrompt, versionLabel }: ProviderCall): VersionReference | null => {
  if (systemPrompt !== null) return { systemPrompt, label: versionLabel }
  return versionLabel === null ? null : { label: versionLabel, make: true }
}

/** A redacted number or address can't identify a customer. */
const redacted = /^\[\w+\]$/

/**
 * Converts metadata to the form in which it will be stored. Without this, -0 and infinite numbers would look like a
 * change each time.
 */
const storable = (metadata: ProviderCall['metadata']): ProviderCall['metadata'] => JSON.parse(JSON.stringify(metadata))

const isAddress = (url: string): boolean => url.length <= longestAddress && URL.canParse(url) && !/\s/.test(url)

/** Returns the reason why a call can't be stored, without quoting its content. */
const faultOf = (call: ProviderCall, { now, metadataBytes }: Bounds): string | undefined => {
  const named: [string, string | null][] = [
    ['the ID of the call', call.externalId],
    ['the ID of the agent', call.agentExternalId],
    ['the label of the version', call.versionLabel],
  ]
  const long = named.find(([, text]) => text !== null && text.length > longestText)
  if (long) return `${long[0]} is longer than ${longestText} characters`
  if ((call.systemPrompt ?? '').length > longestPrompt) return `the prompt is longer than ${longestPrompt} characters`
  if (call.startedAt.getTime() > now.getTime() + aheadMs) return 'the call starts more than 5 minutes in the future'
  const [issue] = metadataIssues(call.metadata, metadataBytes)
  if (issue) return `${issue.path} ${issue.message}`
  if (Object.keys(call.metadata).some((key) => key.length > longestMetadataKey)) {
    return `a metadata key is longer than ${longestMetadataKey} characters`
  }
  return undefined
}

export const toIncoming = (
  call: ProviderCall,
  integration: Integration,
  bounds: Bounds,
): Incoming | { rejected: string } => {
  const fault = faultOf(call, bounds)
  if (fault !== undefined) return { rejected: fault }
  const { externalId, channel, direction, status, startedAt, endedAt, durationSeconds, customerId, recordingUrl } = call
  return {
    externalId,
    agent: agentOf(call, integration),
    version: versionOf(call),
    companyId: null,
    channel,
    direction,
    status,
    startedAt,
    endedAt: endedAt !== null && endedAt >= startedAt ? endedAt : null,
    durationSeconds,
    endReason: shortText(call.endReason),
    customerId: customerId !== null && redacted.test(customerId) ? null : shortText(customerId),
    metadata: storable(call.metadata),
    transcript: call.transcript,
    provider: integration.provider,
    recordingUrl: recordingUrl !== null && isAddress(recordingUrl) ? recordingUrl : null,
    metrics: cutMetrics(call.metrics),
  }
}
