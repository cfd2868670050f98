import Type from 'typebox'
import { Closed, Id, Nullable, PageQuery, TimestampInput } from '../platform/http/schemas.ts'

const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

const Count = (description: string) => Type.Integer({ minimum: 0, description })

type Estimate = { value: number; low: number; high: number }

const Estimated = (description: string, minimum: number) => {
  const number = Type.Number({ minimum, maximum: 1 })
  return Type.Unsafe<Estimate | null>({
    type: ['object', 'null'],
    properties: { value: number, low: number, high: number },
    required: ['value', 'low', 'high'],
    additionalProperties: false,
    description: `${description} With its 95% interval, or null without enough data.`,
    examples: [{ value: 0.8, low: 0.55, high: 0.93 }],
  })
}

const Figure = { minimum: -1, maximum: 1 }
const Bound = (end: string) =>
  Nullable(Type.Number({ ...Figure, description: `${end} end of the 95% interval. Null without enough data.` }))

const Overall = (description: string, counts: Record<string, ReturnType<typeof Count>>) =>
  Nullable(
    Closed({ value: Type.Number(Figure), low: Bound('Lower'), high: Bound('Upper'), ...counts }, { description }),
  )

const Conversations = Count('The number of conversations that the value is based on.')

const BetweenPeople = Closed(
  {
    conversations: Count('Conversations that at least two people judged.'),
    pairs: Type.Array(
      Closed({
        reviewerUserIds: Type.Array(Id, {
          minItems: 2,
          maxItems: 2,
          examples: [['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e60']],
        }),
        conversations: Count('Conversations that both people judged.'),
        agreement: Estimated('How often the two people give the same answer.', 0),
        kappa: Estimated('Cohen’s kappa for the two people.', -1),
      }),
      { description: 'The 50 pairs with the most conversations in common.' },
    ),
    fleissKappa: Overall(
      'Covers conversations judged by the most common number of people. 0 is chance, 1 is full agreement. Null without enough data.',
      {
        conversations: Conversations,
        people: Count('The number of people who judged each conversation, not necessarily the same people.'),
      },
    ),
    krippendorffsAlpha: Overall(
      'Covers all conversations judged by at least two people. 0 is chance, 1 is full agreement. Null without enough data.',
      { conversations: Conversations, judgments: Count('The number of judgments that the value is based on.') },
    ),
  },
  {
    description: 'Agreement between reviewers, from each person’s latest judgment, without adjudications.',
  },
)

export const VersionAgreement = Closed(
  {
    version: Version,
    judgments: Count('Human judgments in completed reviews, excluding replaced ones.'),
    unsure: Count('The reviewer could not decide. Excluded from the figures.'),
    unscored: Count('The reviewer decided and the monitor did not. Excluded from the figures.'),
    failed: Count('The evaluation failed. Excluded from the figures.'),
    missing: Count('The monitor has no result. Excluded from the figures.'),
    matrix: Closed({
      truePositives: Count('Affected according to both.'),
      falsePositives: Count('Only the monitor says affected.'),
      falseNegatives: Count('Only the reviewer says affected.'),
      trueNegatives: Count('Neither says affected.'),
    }),
    precision: Estimated('The share of the monitor’s affected results that reviewers confirm.', 0),
    recall: Estimated('Of the conversations that reviewers judged affected, the share that the monitor detects.', 0),
    agreement: Estimated('How often the monitor and people give the same answer.', 0),
    kappa: Estimated('Cohen’s kappa: agreement beyond chance, from 0 (none) to 1 (full).', -1),
    betweenPeople: BetweenPeople,
  },
  { title: 'MonitorAgreement' },
)

export const AgreementQuery = Closed({
  ...PageQuery.properties,
  since: Type.Optional({ ...TimestampInput, description: 'Calls that started at or after this time.' }),
  until: Type.Optional({ ...TimestampInput, description: 'Calls that started before this time.' }),
  version: Type.Optional({ ...Version, description: 'Only this version of the monitor.' }),
})
