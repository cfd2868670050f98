import Type from 'typebox'
import { Closed, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { Measure } from './query-schema.ts'

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

const Explained = Closed({ ...figure })

export const Change = Closed(
  {
    period: { ...Period, description: 'The period that was counted.' },
    comparedPeriod: { ...Period, description: 'The earlier period.' },
    now: Explained,
    before: Explained,
    difference: { ...Value, description: 'This period’s value minus the earlier one. Null if either is missing.' },
    differenceInterval95: { ...Bounds, description: 'The 95% interval of the difference of rates and means.' },
    drivers: Type.Array(
      Closed({
        dimension: Type.String({ description: 'What the group has in common, such as `agent` or `metadata:plan`.' }),
        key: {
          ...Nullable(Type.String()),
          description: 'The value: an ID or a word. Null if conversations have none.',
        },
        label: Type.String({ description: 'Its name for people.' }),
        now: Explained,
        before: Explained,
        contribution: Type.Number({ description: 'How much smaller the difference would be without the group.' }),
        q: Type.Number({
          description: 'The probability of so clear a contribution by chance, corrected for the number of groups.',
        }),
      }),
      {
        description:
          'The groups that explain the difference, the clearest first. On average, at most one in twenty is due to ' +
          'chance. Groups overlap, so contributions can’t be added.',
      },
    ),
    groups: { ...Count, description: 'How many groups were compared.' },
    warnings: Type.Array(Type.String(), { description: 'What to know before trusting the figures.' }),
  },
  { title: 'Change' },
)

const Side = Closed({
  period: { ...Period, description: 'The period that was counted. Null without one.' },
  conversations: { ...Count, description: 'How many conversations this side has.' },
})

const P = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

const Difference = Closed({
  measure: Measure,
  monitorName: { ...Nullable(Type.String()), description: 'The name of its monitor.' },
  definitionChanged: Type.Boolean({
    description:
      'Whether the monitor’s definition changed in the compared time. The difference may then come from the definition.',
  }),
  a: Explained,
  b: Explained,
  difference: { ...Value, description: 'The value of b minus that of a. Null if either is missing.' },
  differenceInterval95: {
    ...Bounds,
    description:
      'The 95% interval of the difference by itself. Null for counts and sums, for the cost and response time of several ' +
      'monitors, and if there are too few values.',
  },
  p: {
    ...P,
    description:
      'The probability of so large a difference by chance. Null for counts and sums, for the cost and response time of ' +
      'several monitors, whose results are not independent, and for too few values.',
  },
  adjustedP: { ...P, description: 'The same, corrected for the number of compared rows (Holm’s method).' },
  isNotable: Type.Boolean({
    description:
      'Whether `adjustedP` is at most 0.05. If the sides don’t differ in anything, at most one comparison in twenty has ' +
      'any notable row.',
  }),
})

export const GroupComparison = Closed(
  {
    a: Side,
    b: Side,
    rows: Type.Array(Difference, {
      description:
        'The requested measures in order. By default, those without data on either side are left out, except rates.',
    }),
    compared: {
      ...Count,
      description: 'How many rows have a `p`. This is the number that `adjustedP` is corrected for.',
    },
    warnings: Type.Array(Type.String(), { description: 'What to know before trusting the figures.' }),
  },
  {
    title: 'GroupComparison',
    description: 'Describes a difference, not its cause: conversations were not assigned to sides at random.',
  },
)
