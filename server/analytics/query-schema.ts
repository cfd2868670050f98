import Type, { type Static, type TSchema } from 'typebox'
import { Filter } from '../filters/filter.ts'
import { Choice, Closed, Id } from '../platform/http/schemas.ts'
import { signalNames } from '../transcripts/signals/paths.ts'

const statistics = ['mean', 'p50', 'p90', 'p95', 'p99', 'sum'] as const
export type Statistic = (typeof statistics)[number]

const Statistic = Choice(statistics, { description: 'Percentiles are rounded by at most 1.25%.' })

const Volume = Closed({ kind: Choice(['volume']) }, { title: 'VolumeMeasure', description: 'How many conversations.' })

const Rate = Closed(
  { kind: Choice(['rate']), monitorId: Id },
  { title: 'RateMeasure', description: 'The share of scored conversations that a monitor finds affected.' },
)

const Score = Closed(
  { kind: Choice(['score']), monitorId: Id, statistic: Statistic },
  { title: 'ScoreMeasure', description: 'The scores of a monitor.' },
)

const Signal = Closed(
  { kind: Choice(['signal']), signal: Choice(signalNames), statistic: Statistic },
  { title: 'SignalMeasure', description: 'A signal of conversations with a transcript.' },
)

const Metric = Closed(
  {
    kind: Choice(['metric']),
    key: Type.String({ minLength: 1, maxLength: 120, examples: ['csat'] }),
    statistic: Statistic,
  },
  { title: 'MetricMeasure', description: 'A customer metric: numbers, and `true` and `false` as 1 and 0.' },
)

const Duration = Closed(
  { kind: Choice(['duration']), statistic: Statistic },
  { title: 'DurationMeasure', description: 'The duration of conversations in seconds.' },
)

const Delay = Closed(
  { kind: Choice(['delay']), statistic: Statistic },
  { title: 'DelayMeasure', description: 'The seconds from the start of conversations until Earshot stored them.' },
)

const Cost = Closed(
  { kind: Choice(['cost']), monitorId: Type.Optional(Id), statistic: Statistic },
  {
    title: 'CostMeasure',
    description:
      'The cost of results in US dollars, of one judge or of all. Results without a known price are omitted.',
  },
)

const Agreement = Closed(
  { kind: Choice(['agreement']), monitorId: Id },
  {
    title: 'AgreementMeasure',
    description: 'The share of reviewers’ judgments that a monitor’s results agree with. Unsure judgments are omitted.',
  },
)

const measures = [Volume, Rate, Score, Signal, Metric, Duration, Delay, Cost, Agreement] as const

export type Measure = Static<(typeof measures)[number]>

/** One of these schemas, chosen by `kind`, so that a fault is reported for the right one. */
export const Measure = Type.Unsafe<Measure>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: measures as readonly TSchema[],
  examples: [{ kind: 'volume' }],
})

const mostGroups = 50
/** Every hour of a week. */
const mostHours = 168

const isOfTime = (name: string): boolean => name === 'hourOfDay' || name === 'weekday'

/** Returns how many groups an answer has at most, not counting the others together. */
export const mostGroupsBy = (groupBy: string[]): number => (groupBy.every(isOfTime) ? mostHours : mostGroups)

const Group = Type.String({
  pattern: '^(agent|version|company|channel|direction|endReason|hourOfDay|weekday|metadata:[\\s\\S]+)$',
  maxLength: 130,
  description: 'What to group by. `metadata:plan` groups by the values of `plan`.',
  examples: ['agent'],
})

const intervals = ['hour', 'day', 'week', 'month'] as const
const comparisons = ['previous_period', 'previous_year'] as const

export const AnalyticsQuery = Closed(
  {
    measure: Measure,
    filter: Type.Optional({ ...Filter, description: 'Which conversations. Default: all.' }),
    groupBy: Type.Optional(
      Type.Array(Group, {
        maxItems: 2,
        uniqueItems: true,
        description: '`hourOfDay` is 0 to 23; `weekday` is 1 (Monday) to 7.',
      }),
    ),
    interval: Type.Optional(
      Choice(intervals, {
        description: 'Also answers a series over time. Requires a period in the filter. Weeks start on Monday.',
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The IANA time zone of days, hours, and weekdays. Default: that of `filter.period`, or UTC.',
        examples: ['Europe/Berlin'],
      }),
    ),
    compareTo: Type.Optional(
      Choice(comparisons, {
        description:
          'Also answers the figures of an earlier period. previous_period: the one before, of the same length; for the ' +
          'current week or month, the same part of the one before. Requires a period in the filter.',
      }),
    ),
  },
  {
    title: 'AnalyticsQuery',
    examples: [
      {
        measure: { kind: 'duration', statistic: 'p95' },
        filter: { period: { last: '30d' } },
        groupBy: ['agent'],
        interval: 'day',
        compareTo: 'previous_period',
      },
    ],
  },
)
export type AnalyticsQuery = Static<typeof AnalyticsQuery>
