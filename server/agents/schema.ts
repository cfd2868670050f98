import Type from 'typebox'
import {
  Choice,
  Closed,
  Id,
  Name,
  Nullable,
  PageQuery,
  providerModelPattern,
  RecordingChannel,
  Timestamp,
} from '../platform/http/schemas.ts'
import { noModel } from './sound-settings.ts'

const AgentName = { ...Name, examples: ['Leo, billing'] }

const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Your own ID.',
  examples: ['agent_5e0b3c9d1f'],
})

const TranscriptionModel = {
  ...Nullable(Type.String({ pattern: `${providerModelPattern}|^${noModel}$`, examples: [noModel] })),
  description:
    'The model that transcribes recordings without a transcript, as `providerId/model`, or `none`. Null means the ' +
    'organization’s model.',
}

const AgentChannel = {
  ...Nullable(RecordingChannel),
  description: 'The recording channel with the agent’s voice, counted from 0. Null inherits the organization’s.',
}
const keeps = ['all', 'days', 'transcript_only', 'nothing'] as const

const Keep = Choice(keeps, {
  description:
    '`days`: recordings are deleted after `days`. `transcript_only`: they are measured and then deleted. `nothing`: they ' +
    'are neither downloaded nor stored. Measures are kept.',
})
const KeepDays = Nullable(
  Type.Integer({ minimum: 1, maximum: 36_500, description: 'Counted from the conversation’s start.' }),
)
const AgentRedaction = Nullable(
  Choice(['none', 'mute', 'beep'], {
    description: 'Overrides the organization’s `soundRedaction`. Null inherits it.',
  }),
)

const Recordings = Closed(
  { keep: Keep, days: KeepDays, redaction: AgentRedaction },
  { description: 'What happens to the agent’s recordings.' },
)

const RecordingsInput = Closed(
  { keep: Type.Optional(Keep), days: Type.Optional(KeepDays), redaction: Type.Optional(AgentRedaction) },
  {
    description:
      'What happens to the agent’s recordings. Only admins can set it. `keep` also applies to existing recordings, and ' +
      '`redaction` to those that aren’t available yet. If you omit one of them, it keeps its value. `days` is required ' +
      'with `keep: "days"`, and not allowed otherwise.',
    minProperties: 1,
    examples: [{ keep: 'days', days: 30 }],
  },
)

const agentChannels = ['voice', 'text'] as const

export const Agent = Closed(
  {
    id: Id,
    externalId: Nullable(ExternalId),
    name: AgentName,
    channel: Choice(agentChannels),
    companyId: Nullable(Id),
    groupIds: Type.Array(Id, { description: 'The agent’s groups.' }),
    currentVersionId: { ...Nullable(Id), description: 'The newest version.' },
    transcriptionModel: TranscriptionModel,
    agentChannel: AgentChannel,
    recordings: Recordings,
    archivedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Agent' },
)

const GroupIds = Type.Array(Id, { maxItems: 100, uniqueItems: true })

export const AgentCreate = Closed({
  externalId: Type.Optional(Nullable(ExternalId)),
  name: AgentName,
  channel: Choice(agentChannels),
  companyId: Type.Optional(Nullable(Id)),
  groupIds: Type.Optional(GroupIds),
  transcriptionModel: Type.Optional(TranscriptionModel),
  agentChannel: Type.Optional(AgentChannel),
  recordings: Type.Optional(RecordingsInput),
})

export const AgentUpdate = Closed(
  {
    externalId: Type.Optional(Nullable(ExternalId)),
    name: Type.Optional(AgentName),
    companyId: Type.Optional(Nullable(Id)),
    groupIds: Type.Optional(GroupIds),
    transcriptionModel: Type.Optional(TranscriptionModel),
    agentChannel: Type.Optional(AgentChannel),
    recordings: Type.Optional(RecordingsInput),
    archived: Type.Optional(Type.Boolean({ description: 'False unarchives the agent.' })),
  },
  { minProperties: 1 },
)

export const AgentQuery = Closed({
  ...PageQuery.properties,
  companyId: Type.Optional(Id),
  groupId: Type.Optional(Id),
  channel: Type.Optional(Choice(agentChannels)),
  externalId: Type.Optional(ExternalId),
  archived: Type.Optional(
    Type.Boolean({ description: 'True lists only archived agents. By default, they are omitted.' }),
  ),
})

const Label = Type.String({ minLength: 1, maxLength: 255, examples: ['production-12'] })

/** A prompt can be as long as a request allows. */
const SystemPrompt = Type.String({ maxLength: 1_000_000, examples: ['You are Leo. You help with bills.'] })

const Config = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  maxProperties: 1_000,
  description: 'Everything else that defines the version, such as model, voice, and tools.',
  examples: [{ model: 'large', temperature: 0.2 }],
})

export const AgentVersion = Closed(
  {
    id: Id,
    agentId: Id,
    number: Type.Integer({ minimum: 1, description: 'Numbered per agent, starting at 1.' }),
    label: Nullable(Label),
    systemPrompt: SystemPrompt,
    config: Config,
    createdAt: Timestamp,
  },
  { title: 'AgentVersion' },
)

export const AgentVersionCreate = Closed({
  systemPrompt: SystemPrompt,
  config: Type.Optional(Config),
  label: Type.Optional(Nullable(Label)),
})

export const VersionParams = Closed({ id: Id, versionId: Id })
