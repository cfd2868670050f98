import Type from 'typebox'
import type { ReviewStatus } from '../buckets/review-status/queries.ts'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp, TimestampInput } from '../platform/http/schemas.ts'

export const reviewStatuses = ['pending', 'in_progress', 'completed', 'skipped'] as const satisfies ReviewStatus[]

const Rating = Type.Integer({ minimum: 1, maximum: 5, examples: [4] })
const Notes = Type.String({ maxLength: 10_000, examples: ['Polite, but the refund was promised without a date.'] })
const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const Comment = Type.String({ maxLength: 2_000, examples: ['A credit note, not a refund.'] })
const CorrectResult = Choice(['affected', 'not_affected', 'unsure'], {
  description: 'The correct result, or `unsure` if the reviewer cannot decide.',
})

const Judgment = Closed({
  monitorId: Id,
  monitorVersion: Version,
  correctResult: CorrectResult,
  comment: Nullable(Comment),
})

export const Review = Closed(
  {
    id: Id,
    conversationId: Id,
    bucketId: { ...Nullable(Id), description: 'Null for a review outside a bucket.' },
    reviewerUserId: Id,
    status: Choice(reviewStatuses, {
      description: '`pending`: assigned but not started, released, or with an expired lease.',
    }),
    rating: Nullable(Rating),
    notes: Nullable(Notes),
    judgments: Type.Array(Judgment),
    adjudicates: Type.Boolean({ description: 'Whether this review adjudicates conflicting reviews.' }),
    leaseExpiresAt: {
      ...Nullable(Timestamp),
      description: 'Until then, the conversation is reserved for this reviewer.',
    },
    createdAt: Timestamp,
    updatedAt: Timestamp,
    completedAt: Nullable(Timestamp),
  },
  { title: 'Review' },
)

export const JudgmentInput = Closed({
  monitorId: Id,
  monitorVersion: Type.Optional({
    ...Version,
    description: 'Default: the newest version that has a result for the conversation.',
  }),
  correctResult: CorrectResult,
  comment: Type.Optional(Nullable(Comment)),
})

/** A review can judge every monitor in an organization, because scorecards have many items. */
const mostJudgments = 500

const Judgments = Type.Array(JudgmentInput, {
  maxItems: mostJudgments,
  description: 'Replaces the existing judgments.',
})

const content = {
  rating: Type.Optional(Nullable(Rating)),
  notes: Type.Optional(Nullable(Notes)),
  judgments: Type.Optional(Judgments),
}

const judgmentExample = {
  monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f',
  correctResult: 'not_affected',
  comment: 'A credit note, not a refund.',
}

export const ReviewCreate = Closed(
  {
    conversationId: Id,
    status: Type.Optional(Choice(['in_progress', 'completed'], { description: 'Default: `in_progress`.' })),
    ...content,
  },
  { examples: [{ conversationId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', rating: 4, status: 'completed' }] },
)

export const ReviewUpdate = Closed(
  { status: Type.Optional(Choice(['completed', 'skipped'])), ...content },
  { minProperties: 1, examples: [{ status: 'completed', rating: 4, judgments: [judgmentExample] }] },
)

export const Adjudication = Closed(
  {
    rating: content.rating,
    notes: content.notes,
    judgments: Type.Array(JudgmentInput, {
      minItems: 1,
      maxItems: mostJudgments,
      description: 'One judgment for every disagreement.',
    }),
  },
  { examples: [{ judgments: [judgmentExample] }] },
)

export const ReleaseQuery = Closed({
  leaseExpiresAt: Type.Optional({
    ...TimestampInput,
    description:
      'The end of the lease as you last saw it. If the lease was extended since then, it is kept and the review is ' +
      'returned unchanged, which makes late requests safe.',
  }),
})

export const ReviewQuery = Closed({
  ...PageQuery.properties,
  bucketId: Type.Optional(Id),
  conversationId: Type.Optional(Id),
  reviewerUserId: Type.Optional(Id),
  status: Type.Optional(Choice(reviewStatuses)),
})
