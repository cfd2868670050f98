import Type from 'typebox'
import { Closed, Nullable, Timestamp } from '../platform/http/schemas.ts'

const Count = Type.Integer({ minimum: 0 })
const Value = Nullable(Type.Number())

const Bounds = Nullable(Closed({ low: Type.Number(), high: Type.Number() }))

const figure = {
  n: { ...Count, description: 'How many conversations, results, or judgments have a value.' },
  value: { ...Value, description: 'Null if there is no value.' },
  interval95: {
    ...Bounds,
    description:
      'The 95% interval of a rate, mean, or percentile. Null for counts and sums, and if there are too few values.',
  },
}

const Series = Type.Optional(
  Type.Array(Closed({ start: Timestamp, end: Timestamp, ...figure }), {
    description: 'With an `interval`: oldest first, without gaps. The first and last are clipped to the period.',
  }),
)

const Compared = Type.Optional(
  Closed({
    ...figure,
    difference: {
      ...Value,
      description: 'This period’s value minus the earlier one. Null if either is missing, and for “other”.',
    },
    differenceInterval95: {
      ...Bounds,
      description: 'The 95% interval of the difference of rates and means; null for everything else.',
    },
    series: Series,
  }),
)

const Period = Nullable(Closed({ since: Nullable(Timestamp), until: Nullable(Timestamp) }))

export const Analytics = Closed(
  {
    period: { ...Period, description: 'The period that was counted. Null without one.' },
    comparedPeriod: { ...Period, description: 'The earlier period, if one was asked for.' },
    groups: Type.Array(
      Closed({
        key: Type.Array(Nullable(Type.String()), {
          description:
            'The value of each `groupBy`: an ID, a word, or a number as text. Null if conversations have none. Empty ' +
            'without `groupBy`.',
        }),
        label: Type.Array(Type.String(), { description: 'Its name for people.' }),
        isOther: Type.Boolean({ description: 'Whether this is everything outside the largest groups.' }),
        ...figure,
        series: Series,
        comparison: Compared,
      }),
      { description: 'Largest first, at most 50, then everything else as “other”. By hour and weekday, all 168.' },
    ),
    warnings: Type.Array(Type.String(), { description: 'What to know before trusting the figures.' }),
  },
  { title: 'Analytics' },
)
