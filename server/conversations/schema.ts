import Type from 'typebox'
import { Choice, Closed, Id, Nullable, Timestamp, TimestampInput } from '../platform/http/schemas.ts'
import { noSignals, Signals } from '../transcripts/signals/signals.ts'
import { Turn } from '../transcripts/turn.ts'
import { MetricInput, maxKeys } from './metrics/metric.ts'

const channels = ['call', 'chat', 'voicemail'] as const
const directions = ['inbound', 'outbound'] as const
const statuses = ['in_progress', 'completed', 'failed'] as const
const reviewStatuses = ['none', 'pending', 'in_progress', 'completed'] as const

export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Your own ID. Sending it again updates the same conversation.',
  examples: ['call_8f2c1d'],
})

const ShortText = Type.String({ minLength: 1, maxLength: 255 })
const CustomerId = { ...ShortText, examples: ['customer-4711'] }
const EndReason = { ...ShortText, examples: ['customer-ended-call'] }
const DurationSeconds = Type.Integer({ minimum: 0, maximum: 2_147_483_647, examples: [184] })

/** The limit also applies to all parts of a conversation together. */
export const maxMetadataKeys = 1_000

const Metadata = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  propertyNames: { maxLength: 120 },
  maxProperties: maxMetadataKeys,
  description: 'Any JSON with up to 1,000 keys of 120 characters, 64 KiB in total.',
  examples: [{ plan: 'gold', attempt: 2 }],
})

const recordingStatuses = ['pending', 'processing', 'stored', 'failed', 'deleted'] as const

const Recording = Type.Unsafe<{ status: (typeof recordingStatuses)[number]; failure: string | null } | null>({
  type: ['object', 'null'],
  properties: {
    status: Choice(recordingStatuses, {
      description:
        '`pending`: the recording is being downloaded. `processing`: the recording is available once it has been ' +
        'redacted. `deleted`: the agent’s policy has deleted it.',
    }),
    failure: { ...Nullable(Type.String()), description: 'Why the recording could not be downloaded or redacted.' },
  },
  required: ['status', 'failure'],
  additionalProperties: false,
  description: 'The recording’s status, or null if there is none.',
  examples: [{ status: 'stored', failure: null }],
})

export const Conversation = Closed(
  {
    id: Id,
    externalId: Nullable(ExternalId),
    agentId: Id,
    agentVersionId: Nullable(Id),
    companyId: Nullable(Id),
    channel: Choice(channels),
    direction: Nullable(Choice(directions)),
    status: Choice(statuses),
    startedAt: Timestamp,
    endedAt: Nullable(Timestamp),
    durationSeconds: Nullable(DurationSeconds),
    endReason: Nullable(EndReason),
    customerId: Nullable(CustomerId),
    metadata: Metadata,
    signals: { ...Signals, examples: [noSignals] },
    recording: Recording,
    reviewStatus: Choice(reviewStatuses),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Conversation' },
)

const TranscriptInput = Type.Unknown({
  description: 'The transcript in any supported format. The original is kept.',
  examples: [
    [
      { role: 'agent', text: 'Acme Dental, how can I help?', startMs: 0, endMs: 1_900 },
      { role: 'customer', text: 'I want to move my appointment.', startMs: 2_300, endMs: 4_100 },
    ],
  ],
})

const RecordingUrl = Type.String({
  maxLength: 2_048,
  pattern: '^https?://[^\\s]+$',
  description: 'Earshot downloads the recording from this URL once.',
  examples: ['https://recordings.example.com/8f2c1d.wav'],
})

const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema))

const example = {
  externalId: 'call_8f2c1d',
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  direction: 'inbound',
  startedAt: '2026-02-03T10:30:00+01:00',
  durationSeconds: 184,
  transcript: [
    { role: 'agent', text: 'Acme Dental, how can I help?' },
    { role: 'customer', text: 'I want to move my appointment.' },
  ],
}

export const ConversationCreate = Closed(
  {
    externalId: optional(ExternalId),
    agentId: Type.Optional(Id),
    agentExternalId: Type.Optional(ShortText),
    agent: Type.Optional(
      Closed(
        { externalId: ShortText, name: ShortText, channel: Choice(['voice', 'text']) },
        { description: 'Finds the agent by its `externalId`, or creates it.' },
      ),
    ),
    agentVersionId: Type.Optional(Id),
    agentVersionLabel: Type.Optional(ShortText),
    systemPrompt: Type.Optional(
      Type.String({ maxLength: 1_000_000, description: 'Finds the agent’s version with this prompt, or creates it.' }),
    ),
    companyId: optional({ ...Id, description: 'Default: the agent’s company.' }),
    channel: Choice(channels),
    direction: optional(Choice(directions)),
    status: Type.Optional(Choice(statuses, { description: 'Default: `completed`.' })),
    startedAt: TimestampInput,
    endedAt: optional(TimestampInput),
    durationSeconds: optional({ ...DurationSeconds, description: 'Default: computed from the times.' }),
    endReason: optional(EndReason),
    customerId: optional(CustomerId),
    metadata: Type.Optional(Metadata),
    transcript: Type.Optional(TranscriptInput),
    recordingUrl: optional(RecordingUrl),
    metrics: Type.Optional(Type.Array(MetricInput, { maxItems: maxKeys, description: 'Customer metrics.' })),
  },
  { examples: [example] },
)

export const ConversationUpdate = Closed(
  {
    agentVersionId: optional(Id),
    companyId: optional(Id),
    channel: Type.Optional(Choice(channels)),
    direction: optional(Choice(directions)),
    status: Type.Optional(Choice(statuses)),
    endedAt: optional(TimestampInput),
    durationSeconds: optional(DurationSeconds),
    endReason: optional(EndReason),
    customerId: optional(CustomerId),
    metadata: Type.Optional({ ...Metadata, description: 'Merged by key. A null value removes the key.' }),
    transcript: Type.Optional(
      Type.Unsafe<unknown>({ ...TranscriptInput, type: ['array', 'object', 'string', 'number', 'boolean'], items: {} }),
    ),
    recordingUrl: Type.Optional({
      ...RecordingUrl,
      description:
        'Earshot downloads the recording from this URL once. A stored recording is kept until you upload another one.',
    }),
  },
  { minProperties: 1, examples: [{ customerId: 'customer-4711', metadata: { plan: 'gold' } }] },
)

const BatchItem = Type.Unsafe<unknown>({
  description:
    'A conversation as in `POST /v1/conversations`. Invalid conversations are rejected without affecting the others.',
})

export const BatchCreate = Closed(
  { conversations: Type.Array(BatchItem, { minItems: 1, maxItems: 1_000 }) },
  { examples: [{ conversations: [example] }] },
)

const BatchError = Closed({
  error: Type.String(),
  message: Type.String(),
  details: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
})

export const BatchAnswer = Closed({
  data: Type.Array(
    Closed({
      index: Type.Integer({ minimum: 0 }),
      status: Choice(['created', 'updated', 'unchanged', 'rejected']),
      id: Type.Optional(Id),
      error: Type.Optional(BatchError),
    }),
  ),
})

const Transcription = Closed({
  status: Choice(['pending', 'completed', 'failed'], {
    description: 'If nobody speaks in the recording, the status is `completed` and there is no transcript.',
  }),
  model: Type.String({
    description: 'The provider and model, `providerId/model`.',
    examples: ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f/whisper-1'],
  }),
  failure: { ...Nullable(Type.String()), description: 'Why the transcription failed.' },
  audioSeconds: Type.Number({ minimum: 0, description: 'The audio that was sent to the model.' }),
  cost: { ...Nullable(Type.Number({ minimum: 0 })), description: 'In US dollars. Null if the price is unknown.' },
  createdAt: Timestamp,
  endedAt: Nullable(Timestamp),
})

/** The transcript in the API's format, with parsed turns. */
export const Transcript = Closed(
  {
    conversationId: Id,
    createdAt: Timestamp,
    recordingUrl: Type.Optional(Type.String({ examples: ['https://earshot.example.com/files/eyJrZXkiOiIw'] })),
    durationSeconds: Type.Optional(DurationSeconds),
    content: Type.Unknown({ description: 'The original transcript. Null if there is none.' }),
    systemPrompt: Type.Optional(Type.String()),
    turns: { ...Type.Array(Turn), description: 'The turns read from the content.' },
    unreadable: { ...Nullable(Type.String()), description: 'Why the transcript could not be read. Null if it could.' },
    transcribedBy: {
      ...Nullable(Type.String({ examples: ['openai-compatible:whisper-1'] })),
      description:
        'The provider and model that generated the transcript from the recording. Null if you sent the transcript.',
    },
    transcription: {
      ...Nullable(Transcription),
      description: 'How the recording was transcribed. Null if it wasn’t transcribed, or if you sent the transcript.',
    },
  },
  { title: 'Transcript' },
)
