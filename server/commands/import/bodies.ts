import { createHash } from 'node:crypto'
import type { NewConversation } from '../../../client/src/earshot.ts'
import type { Incoming } from '../../conversations/ingest/incoming.ts'
import { toIncoming } from '../../integrations/incoming.ts'
import { isCall } from '../../transcripts/provider-calls/call.ts'
import { type Provider, readCall } from '../../transcripts/provider-calls/read-call.ts'
import type { callSources } from '../table.ts'
import { migrationReaders } from './migration-calls.ts'

/** Reads a value from a file in the same way as a provider's webhook. */

export type CallSource = (typeof callSources)[number]

/**
 * A version that must exist before the conversation is sent. The service does not create it for a conversation that
 * only has a label.
 */
export type WantedVersion = {
  agent: { externalId: string; name: string; channel: 'voice' | 'text' }
  version: { label: string } | { systemPrompt: string; label: string }
}

export type ImportBody = { body: NewConversation; wants?: WantedVersion } | { ignored: string } | { fault: string }

type Options = { from: CallSource | undefined; agent: string | undefined; metadataBytes: number; takesMetrics: boolean }

/**
 * Returns an ID derived from the content, so that importing the same content again does not create another
 * conversation.
 */
const idOfContent = (value: unknown): string =>
  `content:${createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)}`

const own = (value: unknown): ImportBody => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'Not a JSON object.' }
  const { externalId } = value as { externalId?: unknown }
  const given = externalId === undefined || externalId === null ? { ...value, externalId: idOfContent(value) } : value
  // The service validates the conversation.
  return { body: given as NewConversation }
}

const readers = {
  ...migrationReaders,
  ...Object.fromEntries(
    (['vapi', 'retell', 'elevenlabs', 'twilio', 'livekit'] satisfies Provider[]).map((provider) => [
      provider,
      (payload: unknown) => readCall(provider, payload),
    ]),
  ),
} as Record<CallSource, typeof migrationReaders.roark>

const filled = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

const bodyOf = (incoming: Incoming, takesMetrics: boolean): ImportBody => {
  const { agent, version, metrics, startedAt, endedAt, provider: _, ...rest } = incoming
  // The caller has assigned an agent to calls without one.
  const { externalId, make } = agent as { externalId: string; make: { name: string; channel: 'voice' | 'text' } }
  const named = { externalId, ...make }
  const reported = { ...(version as { systemPrompt?: string; label?: string | null } | null) }
  const { systemPrompt, label = null } = reported
  const body = filled({
    ...rest,
    agent: named,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt?.toISOString(),
    ...(label === null && { systemPrompt }),
    ...(takesMetrics && metrics.length > 0 && { metrics }),
  }) as NewConversation
  if (label === null) return { body }
  return { body, wants: { agent: named, version: systemPrompt === undefined ? { label } : { systemPrompt, label } } }
}

export const readBody = (value: unknown, { from, agent, metadataBytes, takesMetrics }: Options): ImportBody => {
  if (from === undefined) return own(value)
  const reading = readers[from](value)
  if ('ignored' in reading) return { ignored: reading.ignored }
  if (!isCall(reading)) return { fault: `Not a call from ${from}: ${reading.unreadable}.` }
  const call = {
    ...reading,
    agentExternalId: reading.agentExternalId ?? agent ?? from,
  }
  // The integration's ID only matters for calls without an agent, and every call here has one.
  const integration = { id: 'import', provider: from as Provider, name: from, settings: {} }
  const incoming = toIncoming(call, integration, { now: new Date(), metadataBytes })
  return 'rejected' in incoming ? { fault: `${incoming.rejected}.` } : bodyOf(incoming, takesMetrics)
}
