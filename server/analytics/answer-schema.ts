import Type from 'typebox'
import { Closed, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { Measure } from './query-schema.ts'

const Count = Type.Integer({ minimum: 0 })
const Value = Nullable(Type.Number())

const Bounds = Nullable(Closed({ low: Type.Number(), high: Type.Number() }))

const figure = {
  n: { ...Count, description: 'The number of conversations, results, or judgments with a value.' },
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
      description: 'The 95% interval of the difference between rates or means. Null for other measures.',
    },
    series: Series,
  }),
)

const Period = Nullable(Closed({ since: Nullable(Timestamp), until: Nullable(Timestamp) }))

export const Analytics = Closed(
  {
    period: { ...Period, description: 'The period that was counted. Null if the request has none.' },
    comparedPeriod: { ...Period, description: 'The earlier period, if the request compares with one.' },
    groups: Type.Array(
      Closed({
        key: Type.Array(Nullable(Type.String()), {
          description:
            'The value of each `groupBy`: an ID, a word, or a number as text. Null for conversations without a value. Empty ' +
            'without `groupBy`.',
        }),
        label: Type.Array(Type.String(), { description: 'The display name.' }),
        isOther: Type.Boolean({ description: 'Whether this is everything outside the largest groups.' }),
        ...figure,
        series: Series,
        comparison: Compared,
      }),
      {
        description:
          'The 50 largest groups, largest first, then everything else as “other”. By hour and weekday, all 168 groups.',
      },
    ),
    warnings: Type.Array(Type.String(), { description: 'What to know before you rely on the figures.' }),
  },
  { title: 'Analytics' },
)

const Explained = Closed({ ...figure })

export const Change = Closed(
  {
    period: { ...Period, description: 'The period that was counted.' },
    comparedPeriod: { ...Period, description: 'The earlier period.' },
    now: Explained,
    before: Explained,
    difference: { ...Value, description: 'This period’s value minus the earlier one. Null if either is missing.' },
    differenceInterval95: { ...Bounds, description: 'The 95% interval of the difference between rates or means.' },
    drivers: Type.Array(
      Closed({
        dimension: Type.String({ description: 'What the group has in common, such as `agent` or `metadata:plan`.' }),
        key: {
          ...Nullable(Type.String()),
          description: 'The value: an ID or a word. Null for conversations without one.',
        },
        label: Type.String({ description: 'The display name.' }),
        now: Explained,
        before: Explained,
        contribution: Type.Number({ description: 'How much smaller the difference would be without the group.' }),
        q: Type.Number({
          description:
            'The probability of a contribution at least this clear if only chance were at work, corrected for the ' +
            'number of groups.',
        }),
      }),
      {
        description:
          'The groups that explain the difference, clearest first. On average, at most one in twenty is due to ' +
          'chance. Groups overlap, so contributions can’t be added.',
      },
    ),
    groups: { ...Count, description: 'The number of groups that were compared.' },
    warnings: Type.Array(Type.String(), { description: 'What to know before you rely on the figures.' }),
  },
  { title: 'Change' },
)

const Side = Closed({
  period: { ...Period, description: 'The period that was counted. Null if the request has none.' },
  conversations: { ...Count, description: 'The number of conversations on this side.' },
})

const P = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

const Difference = Closed({
  measure: Measure,
  monitorName: { ...Nullable(Type.String()), description: 'The name of the measure’s monitor.' },
  definitionChanged: Type.Boolean({
    description:
      'Whether the monitor’s definition changed during the compared time. If so, the new definition may have caused ' +
      'the difference.',
  }),
  a: Explained,
  b: Explained,
  difference: { ...Value, description: 'The value of `b` minus the value of `a`. Null if either is missing.' },
  differenceInterval95: {
    ...Bounds,
    description:
      'The 95% interval of this difference, not corrected for the number of rows. Null for counts and sums, for the ' +
      'cost and response time of several monitors, and if there are too few values.',
  },
  p: {
    ...P,
    description:
      'The probability of a difference at least this large if only chance were at work. Null for counts and sums, if ' +
      'there are too few values, and for the cost and response time of several monitors, because their results are ' +
      'not independent.',
  },
  adjustedP: { ...P, description: '`p`, corrected for the number of compared rows (Holm’s method).' },
  isNotable: Type.Boolean({
    description:
      'Whether `adjustedP` is at most 0.05. If the sides don’t differ in anything, at most one comparison in twenty ' +
      'has a notable row.',
  }),
})

export const GroupComparison = Closed(
  {
    a: Side,
    b: Side,
    rows: Type.Array(Difference, {
      description:
        'The requested measures, in order. By default, measures without data on either side are omitted, except rates.',
    }),
    compared: {
      ...Count,
      description: 'The number of rows with a `p`. `adjustedP` is corrected for this number.',
    },
    warnings: Type.Array(Type.String(), { description: 'What to know before you rely on the figures.' }),
  },
  {
    title: 'GroupComparison',
    description: 'Describes a difference, not its cause: conversations were not assigned to sides at random.',
  },
)
