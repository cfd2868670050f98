import Type, { type Static, type TSchema } from 'typebox'
import { CategoryKey, FieldKey } from '../filters/category.ts'
import { Filter } from '../filters/filter.ts'
import { Choice, Closed, Id, TimestampInput } from '../platform/http/schemas.ts'
import type { Entitlement } from '../platform/identity/actor.ts'
import { measuredSounds } from '../sound-measures/names.ts'
import { signalNames } from '../transcripts/signals/paths.ts'
import { isOfTime } from './queries.ts'

const statistics = ['mean', 'p50', 'p90', 'p95', 'p99', 'sum'] as const
export type Statistic = (typeof statistics)[number]

const Statistic = Choice(statistics, { description: 'Percentiles are rounded by at most 1.25%.' })

const Volume = Closed(
  { kind: Choice(['volume']) },
  { title: 'VolumeMeasure', description: 'The number of conversations.' },
)

const Rate = Closed(
  { kind: Choice(['rate']), monitorId: Id },
  { title: 'RateMeasure', description: 'The share of scored conversations that a monitor finds affected.' },
)

const Score = Closed(
  { kind: Choice(['score']), monitorId: Id, statistic: Statistic },
  { title: 'ScoreMeasure', description: 'A monitor’s scores.' },
)

const Signal = Closed(
  { kind: Choice(['signal']), signal: Choice(signalNames), statistic: Statistic },
  { title: 'SignalMeasure', description: 'A signal from conversations with a transcript.' },
)

const Sound = Closed(
  { kind: Choice(['sound']), name: Choice(measuredSounds), statistic: Statistic },
  { title: 'SoundMeasure', description: 'A sound measure from recordings.' },
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
  { title: 'DurationMeasure', description: 'Conversation duration in seconds.' },
)

const Delay = Closed(
  { kind: Choice(['delay']), statistic: Statistic },
  { title: 'DelayMeasure', description: 'The seconds from a conversation’s start until Earshot stored it.' },
)

const Cost = Closed(
  { kind: Choice(['cost']), monitorId: Type.Optional(Id), statistic: Statistic },
  {
    title: 'CostMeasure',
    description:
      'The cost of results in US dollars, for one judge or for all. Results without a known price are omitted.',
  },
)

const Latency = Closed(
  { kind: Choice(['latency']), monitorId: Type.Optional(Id), statistic: Statistic },
  {
    title: 'LatencyMeasure',
    description: 'The seconds that the model took to respond for a result, for one judge or for all.',
  },
)

const Agreement = Closed(
  { kind: Choice(['agreement']), monitorId: Id },
  {
    title: 'AgreementMeasure',
    description: 'The share of reviewers’ judgments that a monitor’s results agree with. Unsure judgments are omitted.',
  },
)

const Category = Closed(
  {
    kind: Choice(['category']),
    monitorId: Id,
    category: Type.Optional({
      ...CategoryKey,
      description: 'Measures only this category. By default, the response has a group for each category.',
    }),
  },
  {
    title: 'CategoryMeasure',
    description:
      'The share of conversations with a category, among those with categories in their newest result. Conversations ' +
      'that are not applicable only count for the share of `not_applicable`.',
  },
)

const Field = Closed(
  { kind: Choice(['field']), monitorId: Id, field: FieldKey, statistic: Statistic },
  {
    title: 'FieldMeasure',
    description: 'A field of a monitor’s results: numbers, and `true` and `false` as 1 and 0.',
  },
)

const measures = [
  Volume,
  Rate,
  Score,
  Signal,
  Sound,
  Metric,
  Duration,
  Delay,
  Cost,
  Latency,
  Agreement,
  Category,
  Field,
] as const

export type Measure = Static<(typeof measures)[number]>

/** `kind` selects the schema, so that errors refer to the right kind of measure. */
export const Measure = Type.Unsafe<Measure>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: measures as readonly TSchema[],
  examples: [{ kind: 'volume' }],
})

const ofMonitors = new Set(['rate', 'score', 'cost', 'latency', 'agreement', 'category', 'field'])

const categoryOf = /^category:(.+)$/

/** Returns the monitor with the categories that group the query's results. */
export const groupingMonitor = (groupBy: string[] = []): { id: string; at: number } | undefined => {
  const at = groupBy.findIndex((name) => categoryOf.test(name))
  const id = categoryOf.exec(groupBy[at] ?? '')?.[1]
  return id === undefined ? undefined : { id: id.toLowerCase(), at }
}

/** Returns the entitlement that an organization needs for this measure. */
export const entitlementOf = ({ kind }: Measure, groupBy?: string[]): Entitlement | undefined => {
  if (ofMonitors.has(kind) || groupingMonitor(groupBy)) return 'monitors'
  return kind === 'metric' ? 'metrics' : undefined
}

/** Returns whether the answer has a group for each category. */
export const isByCategory = (measure: Measure): boolean => measure.kind === 'category' && measure.category === undefined

/** Returns the error in a query's groups, except for unknown monitors. */
export const faultOfGroups = (measure: Measure, groupBy: string[] = []): string | undefined => {
  const categories = groupBy.filter((name) => categoryOf.test(name)).length
  if (categories > 1) return 'can only contain the categories of one monitor'
  if (!isByCategory(measure)) return undefined
  if (categories > 0) return 'must not contain categories, because the measure has a group for each one'
  return groupBy.length > 1
    ? 'must have at most one item, because the measure has a group for each category'
    : undefined
}

/** Returns the monitor with the results that are measured. */
export const monitorOf = (measure: Measure): string | undefined =>
  'monitorId' in measure ? measure.monitorId : undefined

/** Returns the measure with its monitor's ID in lowercase, as in stored sums. */
export const withLowerCaseId = (measure: Measure): Measure => {
  const monitorId = monitorOf(measure)?.toLowerCase()
  // The kind stays the same, but the type of the spread object doesn't show that.
  return monitorId === undefined ? measure : ({ ...measure, monitorId } as Measure)
}

const mostGroups = 50
/** The number of hours in a week. */
const mostHours = 168

/** Enough for many categories of several agents. */
const mostCategories = 250

/** Returns the maximum number of groups in an answer, not counting the group of all others. */
export const mostGroupsBy = (measure: Measure, groupBy: string[]): number => {
  if (isByCategory(measure)) return mostCategories
  return groupBy.every(isOfTime) ? mostHours : mostGroups
}

const Group = Type.String({
  pattern:
    '^(agent|version|company|channel|direction|endReason|provider|topic|hourOfDay|weekday|metadata:[\\s\\S]+|' +
    'category:[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$',
  maxLength: 130,
  description:
    'What to group by. `provider` is the format of the transcript, such as `vapi`. `topic` is what the customer asks for first. `metadata:plan` groups by the values of ' +
    '`plan`, and `category:` with the ID of a monitor by its ' +
    'categories. A conversation with several categories counts in each group.',
  examples: ['agent'],
})

const intervals = ['hour', 'day', 'week', 'month'] as const
const comparisons = ['previous_period', 'previous_year'] as const

/** An earlier period that is derived from another one. */
export const EarlierPeriod = Choice(comparisons)

const ComparedDates = Closed(
  {
    since: { ...TimestampInput, description: 'Started at or after this time.' },
    until: { ...TimestampInput, description: 'Started before this time.' },
  },
  { title: 'ComparedDates', description: 'A custom period to compare with.' },
)

export type CompareTo = (typeof comparisons)[number] | Static<typeof ComparedDates>

const CompareToOf = (description: string) =>
  Type.Optional(Type.Unsafe<CompareTo>({ anyOf: [EarlierPeriod, ComparedDates], description }))

const ZoneOf = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description, examples: ['Europe/Berlin'] }))

export const AnalyticsQuery = Closed(
  {
    measure: Measure,
    filter: Type.Optional({ ...Filter, description: 'The conversations to measure. Default: all.' }),
    groupBy: Type.Optional(
      Type.Array(Group, {
        maxItems: 2,
        uniqueItems: true,
        description: '`hourOfDay` is 0 to 23; `weekday` is 1 (Monday) to 7.',
      }),
    ),
    interval: Type.Optional(
      Choice(intervals, {
        description: 'Also returns a series over time. Requires a period in the filter. Weeks start on Monday.',
      }),
    ),
    timezone: ZoneOf('The IANA time zone for days, hours, and weekdays. Default: that of `filter.period`, or UTC.'),
    compareTo: CompareToOf(
      'Also returns the figures of another period. `previous_period`: the preceding period of the same length; for the ' +
        'current week or month, the same part of the previous one. `previous_year`: the same period a year ago. Both ' +
        'require a period in the filter. For any other period, send two dates.',
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

export const ChangeQuery = Closed(
  {
    measure: Measure,
    filter: { ...Filter, description: 'The conversations to measure. Requires a period, or `since`.' },
    timezone: AnalyticsQuery.properties.timezone,
    compareTo: CompareToOf('The period to compare with. Default: `previous_period`.'),
    metadataKeys: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 120 }), {
        maxItems: 10,
        uniqueItems: true,
        description: 'The metadata keys that may explain the change. Default: the five most frequent keys.',
        examples: [['plan']],
      }),
    ),
  },
  {
    title: 'ChangeQuery',
    examples: [
      {
        measure: { kind: 'duration', statistic: 'mean' },
        filter: { period: { last: '7d' } },
      },
    ],
  },
)
export type ChangeQuery = Static<typeof ChangeQuery>

export const GroupComparisonQuery = Closed(
  {
    a: { ...Filter, description: 'The conversations on one side, such as those of one version.' },
    b: { ...Filter, description: 'The conversations on the other side. Differences are b − a.' },
    compareTo: Type.Optional(
      Choice(comparisons, {
        description:
          'Counts `a` in an earlier period than `b`: the preceding period, or the same period a year ago. `b` must ' +
          'then have a period, and `a` must not.',
      }),
    ),
    timezone: ZoneOf('The IANA time zone for days, to find the earlier period. Default: that of `b.period`, or UTC.'),
    measures: Type.Optional(
      Type.Array(Measure, {
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
        description:
          'What to compare. Default: the number and duration of conversations, response latencies, the cost of results, ' +
          'and the rates and mean scores of the 50 newest enabled monitors.',
      }),
    ),
  },
  {
    title: 'GroupComparisonQuery',
    examples: [
      {
        a: { channels: ['call'] },
        b: { channels: ['call'], period: { last: '30d' } },
        compareTo: 'previous_period',
        measures: [{ kind: 'volume' }, { kind: 'duration', statistic: 'p95' }],
      },
    ],
  },
)
export type GroupComparisonQuery = Static<typeof GroupComparisonQuery>
