import Type from 'typebox'
import { Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import type { JsonObject } from '../../transcripts/json.ts'

/**
 * The properties that are read from other platforms' clients, and the responses that the clients expect. Other
 * properties are ignored.
 */

const Text = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 10_000 })
const Named = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255 })
/** `instantIn` parses these times. */
const Instant = Type.String({ minLength: 1, maxLength: 64, examples: ['2026-11-20T09:00:00Z'] })
const InstantOrNull = Nullable(Instant)
const list = (maxItems: number) => Type.Unsafe<unknown[] | null>({ type: ['array', 'null'], items: {}, maxItems })
const Turns = list(100_000)
const Open = Type.Unsafe<JsonObject | null>({ type: ['object', 'null'], additionalProperties: true })

const sent = (properties: Record<string, object>, required: string[], example: object) =>
  Type.Unsafe<JsonObject>({
    type: 'object',
    properties,
    required,
    additionalProperties: true,
    examples: [example],
  })

export const RoarkCall = sent(
  {
    startedAt: Instant,
    callDirection: Named,
    externalId: Named,
    recordingUrl: Text,
    stereoRecordingUrl: Text,
    endedStatus: Named,
    agent: Open,
    agents: list(100),
    customer: Open,
    customers: list(100),
    properties: Open,
    transcript: Turns,
    toolInvocations: Turns,
  },
  ['startedAt'],
  {
    callDirection: 'INBOUND',
    interfaceType: 'PHONE',
    startedAt: '2026-11-20T09:00:00.000Z',
    externalId: 'call-4711',
    agent: { customId: 'nora', prompt: { resolvedPrompt: 'You are Nora.' } },
    customer: { phoneNumberE164: '+15550100123' },
    transcript: [{ role: 'AGENT', text: 'Hello', startOffsetMs: 600, endOffsetMs: 1_100 }],
  },
)

export const RoarkAnswer = Closed({
  data: Closed({
    id: Id,
    agents: Type.Array(Closed({ id: Id })),
    callDirection: Nullable(Type.String({ examples: ['INBOUND'] })),
    createdAt: Timestamp,
    customers: Type.Array(Closed({ phoneNumberE164: Nullable(Type.String()) })),
    externalId: Nullable(Type.String()),
    projectId: Id,
    startedAt: Timestamp,
    status: Type.String({ examples: ['ENDED'] }),
  }),
})

export const CovalConversation = sent(
  {
    external_conversation_id: Named,
    occurred_at: InstantOrNull,
    agent_id: Named,
    audio_url: Text,
    transcript: Turns,
    metadata: Open,
    tags: list(20),
  },
  [],
  {
    external_conversation_id: 'external-call-1',
    occurred_at: '2026-11-20T09:00:00Z',
    transcript: [{ role: 'assistant', content: 'Hello', start_time: 0.6, end_time: 1.1 }],
    metadata: { campaign: 'q4' },
  },
)

const ShortId = Type.String({ minLength: 22, maxLength: 22, examples: ['8AUi8aKUp3f3qbQYpw5gDd'] })

export const CovalAnswer = Closed({
  conversation: Closed({
    name: Type.String({ examples: ['conversations/8AUi8aKUp3f3qbQYpw5gDd'] }),
    conversation_id: {
      ...ShortId,
      description: 'The conversation’s ID in Coval’s format. `Location` has Earshot’s ID.',
    },
    status: Type.String({ examples: ['PENDING'] }),
    create_time: Timestamp,
    external_conversation_id: Type.String(),
    occurred_at: Timestamp,
    has_audio: Type.Boolean(),
    agent_id: Nullable(Type.String()),
    persona_id: Type.Null(),
    metadata: Open,
    tags: Type.Array(Type.String()),
  }),
})

export const CekuraCall = sent(
  {
    call_id: Type.Unsafe<string | number>({ type: ['string', 'integer'], minLength: 1, maxLength: 255 }),
    timestamp: InstantOrNull,
    transcript_type: Named,
    voice_recording_url: Text,
    call_ended_reason: Named,
    metadata: Open,
    dynamic_variables: Open,
    redact_fields: list(100),
  },
  ['call_id'],
  {
    agent: 123,
    call_id: 'session-1',
    transcript_type: 'cekura',
    transcript_json: [{ role: 'Main Agent', content: 'Hello', start_time: 0.6, end_time: 1.1 }],
    timestamp: '2026-11-20T09:00:00Z',
    call_ended_reason: 'customer-ended-call',
  },
)

export const CekuraAnswer = Closed({
  id: Id,
  call_id: Type.String(),
  agent: { description: 'As in the request.' },
  status: Type.String({ examples: ['completed'] }),
  timestamp: Timestamp,
  created_at: Timestamp,
})

export const BluejayCall = sent(
  {
    start_time_utc: Instant,
    agent_id: Named,
    external_agent_id: Named,
    recording_url: Text,
    participants: list(10),
    call_direction: Named,
    transcript: Turns,
    tool_calls: Turns,
    metadata: Open,
    tags: list(100),
  },
  ['start_time_utc'],
  {
    agent_id: 'nora',
    start_time_utc: '2026-11-20T09:00:00Z',
    participants: [{ role: 'AGENT' }, { role: 'USER', phone_number: '+15550100123' }],
    transcript: [{ speaker: 'AGENT', utterance: 'Hello', start_offset_ms: 600, end_offset_ms: 1_100 }],
  },
)

export const BluejayAnswer = Closed({
  status: Type.String({ examples: ['success'] }),
  call_id: Id,
  message: Type.String({ examples: ['The call is stored.'] }),
})
