import Type from 'typebox'
import { itemOutcomes } from '../../monitors/scorecards/algebra.ts'
import { Choice, Closed, Id, Nullable } from '../../platform/http/schemas.ts'

const Points = Type.Number({ minimum: 0, examples: [10] })

const ReviewedScorecard = Closed(
  {
    monitorId: Id,
    monitorVersion: Type.Integer({ minimum: 1 }),
    score: Nullable(Type.Number({ description: 'From 0 to 100. Null while an item is not judged.', examples: [80] })),
    result: Nullable(Choice(['affected', 'not_affected'])),
    band: Nullable(Type.String({ examples: ['Pass'] })),
    sections: Type.Array(
      Closed({
        name: Type.String({ examples: ['Compliance'] }),
        earned: Points,
        possible: Points,
        items: Type.Array(
          Closed({
            monitorId: Id,
            points: Points,
            earned: Points,
            outcome: Choice(itemOutcomes, {
              description: 'The outcome according to the judgment. `unscored` if there is none.',
            }),
          }),
        ),
      }),
    ),
  },
  { title: 'ReviewedScorecard' },
)

export const ReviewedScorecards = Closed({ data: Type.Array(ReviewedScorecard) })
