import Type, { type Static } from 'typebox'
import { Filter } from '../filters/filter.ts'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'

const BucketName = { ...Name, examples: ['Refunds this week'] }

const BucketTypeChoice = Choice(['static', 'dynamic', 'sampled'], {
  description:
    '`static` contains conversations you add. `dynamic` also contains conversations that match its ' +
    'filters when they arrive. `sampled` contains a random sample of those, and you cannot add others.',
})

const Share = Type.Number({
  exclusiveMinimum: 0,
  maximum: 100,
  description: 'For a sampled bucket: the percentage of matching conversations to add as they arrive.',
  examples: [5],
})

const PerWeek = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  description:
    'For a sampled bucket: the number of conversations to add per ISO week (UTC), drawn on the following Monday.',
  examples: [50],
})

const settings = {
  reviewerUserIds: Type.Array(Id, {
    maxItems: 200,
    uniqueItems: true,
    description: 'The members who can claim reviews. If empty, everyone with write access.',
  }),
  reviewsPerConversation: Type.Integer({
    minimum: 1,
    maximum: 5,
    description:
      'The number of different people who review each conversation. Applies to conversations added from now on.',
  }),
  monitorIds: Type.Array(Id, {
    maxItems: 20,
    uniqueItems: true,
    description: 'The monitors that a completed review must judge if they have a result. For a scorecard, its items.',
  }),
  blind: Type.Boolean({
    description: 'Whether other reviews and monitor results are hidden until the reviewer has submitted an answer.',
  }),
  noteOnDisagreement: Type.Boolean({
    description:
      'Whether a judgment that differs from the monitor needs a comment, or the review notes. In a blind ' +
      'bucket, every judgment needs one, because asking only about differences would reveal the result.',
  }),
}

const example = {
  name: 'Refunds this week',
  type: 'sampled',
  filters: { channels: ['call'], text: 'refund' },
  perWeek: 50,
  reviewsPerConversation: 2,
  blind: true,
}

export const Bucket = Closed(
  {
    id: Id,
    organizationId: Id,
    agentId: Type.Optional({ ...Id, description: 'Limits the filters to this agent’s conversations.' }),
    name: BucketName,
    type: BucketTypeChoice,
    filters: Filter,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    share: Nullable(Share),
    perWeek: Nullable(PerWeek),
    ...settings,
  },
  { title: 'Bucket' },
)

export const BucketCreate = Closed(
  {
    name: BucketName,
    type: BucketTypeChoice,
    agentId: Type.Optional(Nullable(Id)),
    filters: Type.Optional({ ...Filter, description: 'Default: `{}`, so a dynamic bucket adds every conversation.' }),
    share: Type.Optional(Nullable(Share)),
    perWeek: Type.Optional(Nullable(PerWeek)),
    reviewerUserIds: Type.Optional(settings.reviewerUserIds),
    reviewsPerConversation: Type.Optional(settings.reviewsPerConversation),
    monitorIds: Type.Optional(settings.monitorIds),
    blind: Type.Optional(settings.blind),
    noteOnDisagreement: Type.Optional(settings.noteOnDisagreement),
  },
  { examples: [example] },
)
export type BucketCreate = Static<typeof BucketCreate>

const { type: _type, ...changeable } = BucketCreate.properties

export const BucketUpdate = Closed(
  { ...changeable, name: Type.Optional(BucketName) },
  { minProperties: 1, examples: [{ reviewsPerConversation: 3 }] },
)
