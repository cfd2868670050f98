import Type from 'typebox'
import {
  Choice,
  Closed,
  Email,
  Id,
  Name,
  Nullable,
  ProviderModel,
  RecordingChannel,
  Timestamp,
} from '../platform/http/schemas.ts'
import { CreatedApiKey, Entitlements, Features, SomeEntitlements, SomeFeatures } from '../platform/identity/schema.ts'

const OrganizationName = { ...Name, examples: ['Acme Voice'] }

const Slug = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
  description: 'Lowercase letters, digits, and hyphens. Unique on this server.',
  examples: ['acme-voice'],
})

const RetentionDays = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: 36_500,
    description: 'Conversations are erased after this many days. Null keeps them.',
  }),
)
const Redaction = Type.Boolean({
  description: 'In PHI mode: redacts email addresses and phone, card, and social security numbers before storing.',
})
const MeasureSound = Type.Boolean({
  description: 'Whether Earshot decodes and measures recordings. Existing measures are kept if you disable this.',
})
const TranscriptionModel = {
  ...Nullable(ProviderModel),
  description:
    'The model that transcribes recordings without a transcript, as `providerId/model`. The provider must be ' +
    'OpenAI-compatible or Azure OpenAI. Null transcribes none. Agents can override it.',
}
const EmbeddingModel = {
  ...Nullable({ ...ProviderModel, examples: ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f/text-embedding-3-small'] }),
  description:
    'The model that embeds conversations for search by meaning, as `providerId/model`. The provider must be ' +
    'OpenAI-compatible or Azure OpenAI. Null uses the built-in models, which send nothing to other services. After a change, all ' +
    'conversations are embedded again.',
}
const AgentChannel = {
  ...Nullable(RecordingChannel),
  description:
    'The recording channel with the agent’s voice, counted from 0. Null determines it from the transcript. Agents ' +
    'can override it.',
}
const SoundToModels = Type.Boolean({
  description:
    'In PHI mode: whether recordings may be sent to models, for transcription and judges that listen. Otherwise, it has no effect.',
})
const SoundRedaction = Nullable(
  Choice(['none', 'mute', 'beep'], {
    description:
      'What replaces redacted words in new recordings before they are available. Null: `mute` if the organization ' +
      'redacts text, otherwise `none`.',
  }),
)
const OriginalRecordings = Choice(['delete', 'seal'], {
  description:
    'What happens to the original of a redacted recording. Only admins can open a sealed original, and they must ' +
    'give a reason for the audit log. `delete` applies to recordings that are redacted from now on: existing sealed ' +
    'originals stay until their recording is deleted or replaced, or redacted again because its transcript changes.',
})
const MonthlyJudgeBudget = Nullable(
  Type.Number({
    minimum: 0,
    maximum: 9_999_999_999,
    multipleOf: 0.01,
    description:
      'The limit for LLM judge, transcription, and embedding costs per calendar month, in US dollars. Null means no limit.',
  }),
)

export const Organization = Closed(
  {
    id: Id,
    name: OrganizationName,
    slug: Slug,
    status: Choice(['active', 'suspended']),
    entitlements: Entitlements,
    features: Features,
    retentionDays: RetentionDays,
    redaction: Redaction,
    measureSound: MeasureSound,
    transcriptionModel: TranscriptionModel,
    embeddingModel: EmbeddingModel,
    agentChannel: AgentChannel,
    soundToModels: SoundToModels,
    soundRedaction: SoundRedaction,
    originalRecordings: OriginalRecordings,
    monthlyJudgeBudget: MonthlyJudgeBudget,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Organization' },
)

const Total = Type.Integer({ minimum: 0 })

export const OwnOrganization = Closed(
  {
    ...Organization.properties,
    judgeSpending: Closed(
      {
        month: Type.String({ description: 'The current calendar month in UTC.', examples: ['2026-11'] }),
        judgements: Total,
        inputTokens: Total,
        outputTokens: Total,
        cost: Type.Number({ minimum: 0, description: 'In US dollars, for models with a known price.' }),
        audioSeconds: Type.Number({ minimum: 0, description: 'The audio that was transcribed.' }),
        budgetLeft: Nullable(
          Type.Number({ minimum: 0, description: 'Null without a monthly budget. At 0, judges stop.' }),
        ),
      },
      { description: 'What LLM judges, transcription, and embeddings used this month.' },
    ),
  },
  { title: 'OwnOrganization' },
)

export const OrganizationCreate = Closed({
  name: OrganizationName,
  slug: Slug,
  owner: Closed({ email: Email, name: { ...Name, examples: ['Ada Lovelace'] } }),
  entitlements: Type.Optional(SomeEntitlements),
  features: Type.Optional(SomeFeatures),
})

export const ProvisionedOrganization = Closed({
  organization: Organization,
  apiKey: CreatedApiKey,
  invitationUrl: Type.String({
    description: 'The link for the owner to join. It works once and is shown only in this response.',
    examples: ['https://earshot.example.com/welcome#AZejsF4cfDqaWT8fDC1OX4yQb0mB2cTn7vRj5sHd1gPy9aUe3kQ6zXWw'],
  }),
})

/** The settings that an operator can change. */
export const OrganizationUpdate = Closed(
  {
    name: Type.Optional(OrganizationName),
    slug: Type.Optional(Slug),
    entitlements: Type.Optional(SomeEntitlements),
    features: Type.Optional(SomeFeatures),
  },
  { minProperties: 1 },
)

/** The settings that the organization's own admins can change. */
export const OwnOrganizationUpdate = Closed(
  {
    name: Type.Optional(OrganizationName),
    retentionDays: Type.Optional(RetentionDays),
    redaction: Type.Optional(Redaction),
    measureSound: Type.Optional(MeasureSound),
    transcriptionModel: Type.Optional(TranscriptionModel),
    embeddingModel: Type.Optional(EmbeddingModel),
    agentChannel: Type.Optional(AgentChannel),
    soundToModels: Type.Optional(SoundToModels),
    soundRedaction: Type.Optional(SoundRedaction),
    originalRecordings: Type.Optional(OriginalRecordings),
    monthlyJudgeBudget: Type.Optional(MonthlyJudgeBudget),
  },
  { minProperties: 1, examples: [{ retentionDays: 365, measureSound: true, monthlyJudgeBudget: 200 }] },
)
