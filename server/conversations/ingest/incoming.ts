import type { ApiError } from '../../platform/errors.ts'

/** A conversation from any source: a request, a provider's webhook, traces, or the demo. Null means unknown. */

export type AgentReference =
  | { id: string }
  /** With `make`, a missing agent is created. */
  | { externalId: string; make?: { name: string; channel: 'voice' | 'text' } }

export type VersionReference =
  | { id: string }
  /** With `make`, a missing version with this label is created, even without a prompt. */
  | { label: string; make?: true }
  /** The version is found by its content, or is created with the label. */
  | { systemPrompt: string; label?: string | null }

export type MetricValue = number | boolean | string

export type Incoming = {
  externalId: string | null
  agent: AgentReference
  version: VersionReference | null
  companyId: string | null
  channel: 'call' | 'chat' | 'voicemail'
  direction: 'inbound' | 'outbound' | null
  status: 'in_progress' | 'completed' | 'failed' | null
  startedAt: Date
  endedAt: Date | null
  durationSeconds: number | null
  endReason: string | null
  customerId: string | null
  metadata: Record<string, unknown>
  /** The transcript is stored as it was sent, and can be any JSON. Long JSON is a `JsonText`. */
  transcript: unknown
  /** The format to try first when reading the transcript. */
  provider?: string
  recordingUrl: string | null
  metrics: { key: string; value: MetricValue; comment?: string | null }[]
}

export type IngestOutcome =
  | { status: 'created' | 'updated' | 'unchanged'; id: string }
  | { status: 'rejected'; error: ApiError }
  /** The conversation was erased before and stays erased. */
  | { status: 'erased' }
