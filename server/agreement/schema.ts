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
    description: `${description} With its 95 % interval; null where nothing tells.`,
    examples: [{ value: 0.8, low: 0.55, high: 0.93 }],
  })
}

const Figure = { minimum: -1, maximum: 1 }
const Bound = Nullable(Type.Number({ ...Figure, description: 'Of its 95 % interval; null where few tell anything.' }))

const Overall = (description: string, counts: Record<string, ReturnType<typeof Count>>) =>
  Nullable(Closed({ value: Type.Number(Figure), low: Bound, high: Bound, ...counts }, { description }))

const Conversations = Count('That it stands on.')

const BetweenPeople = Closed(
  {
    conversations: Count('That two people or more could judge.'),
    pairs: Type.Array(
      Closed({
        reviewerUserIds: Type.Array(Id, {
          minItems: 2,
          maxItems: 2,
          examples: [['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e60']],
        }),
        conversations: Count('That both judged.'),
        agreement: Estimated('The share on which both say the same.', 0),
        kappa: Estimated('Cohen’s kappa of the two.', -1),
      }),
      { description: 'The 50 with the most conversations in common.' },
    ),
    fleissKappa: Overall(
      'Of the conversations that as many people judged as most were; null where nothing tells. 0 is chance, 1 is all.',
      { conversations: Conversations, people: Count('Who judged each; not always the same ones.') },
    ),
    krippendorffsAlpha: Overall(
      'Of all conversations that two people or more judged; null where nothing tells. 0 is chance, 1 is all.',
      { conversations: Conversations, judgments: Count('That it stands on.') },
    ),
  },
  {
    description: 'How people agree with each other. Of each person the last judgment; decisions between others apart.',
  },
)

export const VersionAgreement = Closed(
  {
    version: Version,
    judgments: Count('Judgments of people in completed reviews, without those that another took the place of.'),
    unsure: Count('Of these: people could not tell. In none of the figures.'),
    unscored: Count('People could tell and the monitor could not. In none of the figures.'),
    failed: Count('The evaluation had failed. In none of the figures.'),
    missing: Count('The monitor has no result. In none of the figures.'),
    matrix: Closed({
      truePositives: Count('Both say affected.'),
      falsePositives: Count('The monitor alone says affected.'),
      falseNegatives: Count('People alone say affected.'),
      trueNegatives: Count('Neither says affected.'),
    }),
    precision: Estimated('Of what the monitor calls affected, the share that people do too.', 0),
    recall: Estimated('Of what people call affected, the share that the monitor does too.', 0),
    agreement: Estimated('The share on which both say the same.', 0),
    kappa: Estimated('Cohen’s kappa: agreement beyond that of chance, 0 for none, 1 for all of it.', -1),
    betweenPeople: BetweenPeople,
  },
  { title: 'MonitorAgreement' },
)

export const AgreementQuery = Closed({
  ...PageQuery.properties,
  since: Type.Optional({ ...TimestampInput, description: 'Of calls that started at this instant or later.' }),
  until: Type.Optional({ ...TimestampInput, description: 'Of calls that started before this instant.' }),
  version: Type.Optional({ ...Version, description: 'Of this version of the monitor alone.' }),
})
