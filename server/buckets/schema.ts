import Type, { type Static } from 'typebox'
import { Filter } from '../filters/filter.ts'
import { Choice, Closed, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'

const BucketName = { ...Name, examples: ['Refunds of this week'] }

const BucketTypeChoice = Choice(['static', 'dynamic', 'sampled'], {
  description:
    '`static` holds what is put in by hand, `dynamic` also what its filters select as it arrives, `sampled` a fair ' +
    'sample of that and nothing by hand.',
})

const Share = Type.Number({
  exclusiveMinimum: 0,
  maximum: 100,
  description: 'Of a sampled bucket: this percentage of what the filters select, each as it arrives.',
  examples: [5],
})

const PerWeek = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  description: 'Of a sampled bucket: so many of each ISO week of calls, in UTC, drawn on the Monday after it.',
  examples: [50],
})

const settings = {
  reviewerUserIds: Type.Array(Id, {
    maxItems: 200,
    uniqueItems: true,
    description: 'Who may claim: members who may write. Everyone who may write where nobody is named.',
  }),
  reviewsPerConversation: Type.Integer({
    minimum: 1,
    maximum: 5,
    description: 'By so many different people. Of conversations that are put in from now on.',
  }),
  monitorIds: Type.Array(Id, {
    maxItems: 20,
    uniqueItems: true,
    description: 'A completed review judges those of these monitors that have a result of the conversation.',
  }),
  blind: Type.Boolean({
    description: 'Whether a reviewer is shown others’ answers and the monitors’ results only after giving an own one.',
  }),
  noteOnDisagreement: Type.Boolean({
    description:
      'Whether a judgment that differs from what the monitor found needs a comment, or the review notes. Where the ' +
      'bucket is blind each judgment does, because to ask for it would tell what the monitor found.',
  }),
}

const example = {
  name: 'Refunds of this week',
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
    agentId: Type.Optional({ ...Id, description: 'The filters select conversations of this agent alone.' }),
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
    filters: Type.Optional({ ...Filter, description: '`{}` when left out: a dynamic bucket then takes everything.' }),
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
