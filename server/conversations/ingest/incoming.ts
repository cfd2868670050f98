import type { ApiError } from '../../platform/errors.ts'

/** What anyone tells of a conversation: a request, a provider's webhook, traces, the demo. Null is what nobody said. */

export type AgentReference =
  | { id: string }
  /** With `make`, an agent that does not exist yet is made. */
  | { externalId: string; make?: { name: string; channel: 'voice' | 'text' } }

export type VersionReference =
  | { id: string }
  /** With `make`, a version of this label that does not exist yet is made, though nobody told its prompt. */
  | { label: string; make?: true }
  /** Found by its content, or made. The label is given to one that is made. */
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
  /** Any JSON, kept as it is; a long one as a `JsonText`. */
  transcript: unknown
  /** The format to try first when the transcript is read. */
  provider?: string
  recordingUrl: string | null
  metrics: { key: string; value: MetricValue; comment?: string | null }[]
}

export type Outcome =
  | { status: 'created' | 'updated' | 'unchanged'; id: string }
  | { status: 'rejected'; error: ApiError }
  /** It was erased before, and stays so. */
  | { status: 'erased' }
