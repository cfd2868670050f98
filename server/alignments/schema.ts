import Type from 'typebox'
import { AnyDefinition } from '../monitors/definition.ts'
import { Choice, Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { proposalKinds } from './kinds.ts'

const Count = Type.Integer({ minimum: 0 })
const Share = Type.Number({ minimum: 0, maximum: 1 })
const Figure = Type.Number({ minimum: -1, maximum: 1 })

type Estimate = { value: number; low: number; high: number }

const Estimated = (description: string) =>
  Type.Unsafe<Estimate | null>({
    ...Nullable(Closed({ value: Figure, low: Figure, high: Figure })),
    description: `${description} With its 95% interval. Null without enough data.`,
    examples: [{ value: 0.8, low: 0.55, high: 0.93 }],
  })

export const AlignmentParams = Closed({ id: Id, alignmentId: Id })

const Kind = Choice(proposalKinds, {
  description:
    '`threshold`: a different threshold for the score. `calibration`: converts scores to probabilities. Neither ' +
    'needs a model. `examples`: adds judged conversations to requests. `guidelines`: adds rules that the model ' +
    'distills from review notes.',
  examples: ['threshold'],
})

const MaxCost = Type.Number({
  exclusiveMinimum: 0,
  maximum: 1_000_000,
  description:
    'In US dollars. The alignment stops when it reaches this cost, and can be resumed. Requests in progress can ' +
    'exceed it.',
})

export const AlignmentCreate = Closed(
  {
    proposals: Type.Optional(
      Type.Array(Kind, {
        minItems: 1,
        maxItems: proposalKinds.length,
        uniqueItems: true,
        description:
          'Default: every kind that the judge’s output supports. `threshold` and `calibration` need a score.',
      }),
    ),
    maxConversations: Type.Optional(
      Type.Integer({
        minimum: 20,
        maximum: 1_000,
        description: 'The maximum number of judged conversations from each half, newest first. Default: 200.',
        examples: [200],
      }),
    ),
    maxCost: Type.Optional(Nullable(MaxCost)),
    dryRun: Type.Optional(Type.Boolean({ description: 'True returns an estimate and starts nothing.' })),
  },
  { examples: [{ proposals: ['threshold', 'calibration'], maxCost: 5 }] },
)

const HalfCounts = Closed({ conversations: Count, affected: Count, notAffected: Count })

const Tokens = Closed({ input: Count, output: Count })

export const AlignmentEstimate = Closed(
  {
    tuning: { ...HalfCounts, description: 'Judged conversations that improvements are learned from.' },
    test: { ...HalfCounts, description: 'Judged conversations that improvements are tested on.' },
    missing: Nullable(Type.String({ description: 'Which judgments are missing. Null if the alignment can start.' })),
    proposals: Type.Array(Kind),
    requests: { ...Count, description: 'The number of conversations that the model has to judge.' },
    tokens: Tokens,
    cost: Nullable(Type.Number({ minimum: 0, description: 'In US dollars. Null if the price is unknown.' })),
    budgetLeft: Nullable(
      Type.Number({ description: 'The remaining monthly judge budget in US dollars. Null if there is no budget.' }),
    ),
  },
  { title: 'AlignmentEstimate' },
)

const Matrix = Closed({
  truePositives: { ...Count, description: 'Affected according to both.' },
  falsePositives: { ...Count, description: 'Only the judge says affected.' },
  falseNegatives: { ...Count, description: 'Only people say affected.' },
  trueNegatives: { ...Count, description: 'Neither says affected.' },
})

const measures = {
  conversations: { ...Count, description: 'Conversations in the test half.' },
  matrix: Matrix,
  unscored: {
    ...Count,
    description:
      'Conversations that the judge could not decide. Agreement counts them as wrong; other measures ignore them.',
  },
  failed: { ...Count, description: 'Failed evaluations. Agreement counts them as wrong; other measures ignore them.' },
  precision: Estimated('The share of the judge’s affected results that people confirm.'),
  recall: Estimated('Of the conversations that people judged affected, the share that the judge detects.'),
  agreement: Estimated('The share of conversations that the judge gets right.'),
  kappa: Estimated('Cohen’s kappa: agreement beyond chance, from 0 (none) to 1 (full).'),
}

const Bound = Nullable(Figure)

const People = Closed(
  {
    conversations: { ...Count, description: 'Conversations that at least two people judged.' },
    agreement: Estimated('How often two people give the same answer.'),
    judgeAgreement: Estimated('How often the judge and a person give the same answer about these conversations.'),
    krippendorffsAlpha: {
      ...Nullable(Closed({ value: Figure, low: Bound, high: Bound })),
      description: 'Agreement between people beyond chance. Null without enough data.',
    },
    warning: Nullable(Type.String({ description: 'Set if people agree less with each other than with the judge.' })),
  },
  { description: 'Based on people’s answers, without adjudications.' },
)

const Gain = Closed(
  { value: Figure, low: Figure, high: Figure },
  {
    description:
      'The difference in agreement between the proposal and the current version, on the same conversations. The 95% ' +
      'intervals hold for all proposals together.',
  },
)

const Proposal = Closed(
  {
    kind: Kind,
    verdict: Choice(['shown', 'not_shown', 'none', 'removed', 'pending'], {
      description:
        '`shown`: the gain is unlikely to be due to chance, even though several proposals were tested. `none`: ' +
        'there is nothing to propose. `removed`: a review that the proposal was learned from was removed. ' +
        '`pending`: the proposal has not been tested yet.',
    }),
    reason: Nullable(Type.String({ description: 'Why there is nothing to propose.' })),
    changes: Type.Array(Type.String(), { description: 'Describes the definition’s changes in words.' }),
    definition: {
      ...Nullable(AnyDefinition),
      description:
        'The proposed definition. Null if there is none. Examples that you still have to judge blindly contain only ' +
        'their IDs.',
    },
    measured: Nullable(
      Closed({
        ...measures,
        gain: Gain,
        p: { ...Share, description: 'The exact two-sided p-value, corrected for the number of proposals.' },
        fixed: { ...Count, description: 'Conversations that only the proposal gets right.' },
        broken: { ...Count, description: 'Conversations that only the current version gets right.' },
      }),
    ),
    fixedConversationIds: Type.Array(Id, {
      description: 'Omits conversations that you still have to judge blindly.',
    }),
    brokenConversationIds: Type.Array(Id, {
      description: 'Omits conversations that you still have to judge blindly.',
    }),
    tokens: Tokens,
    cost: Nullable(Type.Number({ minimum: 0, description: 'The cost in US dollars. Null if a price is unknown.' })),
    appliedVersion: Nullable(
      Type.Integer({ minimum: 1, description: 'The version that was published from this proposal.' }),
    ),
  },
  { title: 'AlignmentProposal' },
)

const about = {
  id: Id,
  monitorId: Id,
  monitorVersion: Type.Integer({ minimum: 1, description: 'The current version when the alignment was requested.' }),
  status: Choice(['queued', 'running', 'completed', 'failed', 'cancelled']),
  failure: Nullable(Type.String({ description: 'Why the alignment failed.' })),
  requestedProposals: Type.Array(Kind),
  maxCost: Nullable(Type.Number({ minimum: 0 })),
  total: { ...Count, description: 'The number of results needed.' },
  done: { ...Count, description: 'The number of results so far.' },
  tokens: { ...Tokens, description: 'The tokens that the model has used.' },
  cost: Nullable(Type.Number({ minimum: 0, description: 'In US dollars. Null if a price is unknown.' })),
  createdAt: Timestamp,
  startedAt: Nullable(Timestamp),
  finishedAt: Nullable(Timestamp),
}

export const AlignmentSummary = Closed(about, { title: 'AlignmentSummary' })

export const Alignment = Closed(
  {
    ...about,
    report: Nullable(
      Closed(
        {
          tuning: HalfCounts,
          test: HalfCounts,
          baseline: Closed(measures, { description: 'The current version, on the test half.' }),
          people: Nullable(People),
        },
        { description: 'Null until the alignment is completed.' },
      ),
    ),
    proposals: Type.Array(Proposal),
  },
  { title: 'Alignment' },
)

export const AlignmentApply = Closed(
  {
    proposal: Kind,
    overrideReason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        pattern: '\\S',
        description:
          'Publishes a proposal that has not shown a gain even though the monitor requires one. Only for admins. ' +
          'The reason becomes the version’s note, and the override is recorded in the audit log.',
      }),
    ),
  },
  { examples: [{ proposal: 'threshold' }] },
)

export const AlignmentResume = Closed(
  { maxCost: Type.Optional({ ...Nullable(MaxCost), description: 'A new maximum. Default: the previous one.' }) },
  { examples: [{}] },
)
