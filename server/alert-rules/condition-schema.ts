import Type, { type Static, type TSchema } from 'typebox'
import { CategoryKey, FieldKey } from '../filters/category.ts'
import { Choice, Closed, Id } from '../platform/http/schemas.ts'
import { measuredSounds } from '../sound-measures/names.ts'
import { signalPaths as transcriptSignals } from '../transcripts/signals/paths.ts'

/** The signals that a rule can watch, each with its path. */
export const signalPaths = { durationSeconds: [], ...transcriptSignals } satisfies Record<string, string[]>

type SignalName = keyof typeof signalPaths

const Direction = Choice(['above', 'below'])
const Statistic = Choice(['mean', 'p50', 'p95', 'p99'])

const ShareThreshold = Type.Number({ minimum: 0, maximum: 1, examples: [0.2] })
const Certainty = Choice(['interval', 'point'], {
  description:
    'interval (the default): the whole 95% interval must be past the threshold. point: only the rate itself must be.',
})

const Rate = Closed(
  {
    kind: Choice(['rate']),
    monitorId: Id,
    direction: Direction,
    threshold: ShareThreshold,
    certainty: Type.Optional(Certainty),
  },
  { title: 'RateCondition', description: 'The share of conversations that a monitor finds affected.' },
)

const Score = Closed(
  { kind: Choice(['score']), monitorId: Id, statistic: Statistic, direction: Direction, threshold: Type.Number() },
  { title: 'ScoreCondition', description: 'The mean or a percentile of a monitor’s scores.' },
)

const Category = Closed(
  {
    kind: Choice(['category']),
    monitorId: Id,
    category: CategoryKey,
    direction: Direction,
    threshold: ShareThreshold,
    certainty: Type.Optional(Certainty),
  },
  {
    title: 'CategoryShareCondition',
    description:
      'The share of conversations with a category, among those with categories. Conversations that are not applicable only ' +
      'count for the share of `not_applicable`.',
  },
)

const Field = Closed(
  {
    kind: Choice(['field']),
    monitorId: Id,
    field: FieldKey,
    statistic: Statistic,
    direction: Direction,
    threshold: Type.Number(),
  },
  {
    title: 'FieldValueCondition',
    description: 'The mean or a percentile of a field: numbers, and `true` and `false` as 1 and 0.',
  },
)

const Change = Closed(
  {
    kind: Choice(['change']),
    monitorId: Id,
    category: Type.Optional({
      ...CategoryKey,
      description: 'Compares the share of this category instead of the rate.',
    }),
    field: Type.Optional({
      ...FieldKey,
      description: 'Compares the values of this field instead of the rate. Not allowed with `category`.',
    }),
    direction: Choice(['up', 'down', 'either']),
    falseAlarmsPerYear: Type.Number({
      exclusiveMinimum: 0,
      maximum: 365,
      description: 'False alarms per year that you accept. With a lower number, only larger changes trigger the rule.',
      examples: [2],
    }),
    comparedTo: Type.Optional(
      Choice(['previous_period', 'same_weekday'], {
        description:
          'previous_period (the default): the preceding window. same_weekday: the same time one week earlier.',
      }),
    ),
  },
  {
    title: 'ChangeCondition',
    description: 'A monitor’s rate, category, or field in a window, compared with an earlier window.',
  },
)

const Spike = Closed(
  {
    kind: Choice(['spike']),
    monitorId: Type.Optional({ ...Id, description: 'If omitted, the rule watches all monitors.' }),
  },
  { title: 'SpikeCondition', description: 'A monitor’s rate is unusually high compared with its own history.' },
)

const Signal = Closed(
  {
    kind: Choice(['signal']),
    // Object.keys loses the literal types.
    signal: Choice(Object.keys(signalPaths) as SignalName[]),
    statistic: Statistic,
    direction: Direction,
    threshold: Type.Number({ examples: [2000] }),
  },
  { title: 'SignalCondition', description: 'The mean or a percentile of a signal.' },
)

const Sound = Closed(
  {
    kind: Choice(['sound']),
    name: Choice(measuredSounds),
    statistic: Statistic,
    direction: Direction,
    threshold: Type.Number({ examples: [2000] }),
  },
  {
    title: 'SoundCondition',
    description: 'The mean or a percentile of a recording measure. Recordings that have not been measured don’t count.',
  },
)

const Volume = Closed(
  { kind: Choice(['volume']), direction: Direction, threshold: Type.Integer({ minimum: 0 }) },
  { title: 'VolumeCondition', description: 'The number of conversations that started in the window.' },
)

const NoData = Closed(
  { kind: Choice(['no_data']), forMinutes: Type.Integer({ minimum: 1, maximum: 10_080, examples: [60] }) },
  {
    title: 'NoDataCondition',
    description:
      'No conversation has arrived for this long. With a filter or groups, none has started for this long; a group ' +
      'is checked until it has been silent for another 7 days.',
  },
)

const Failures = Closed(
  {
    kind: Choice(['failures']),
    source: Choice(['judges', 'webhooks', 'destinations', 'sync', 'schedules', 'jobs']),
    threshold: Type.Integer({
      minimum: 1,
      description: 'The number of failures in the window that triggers the rule.',
      examples: [5],
    }),
  },
  { title: 'FailuresCondition', description: 'Work that failed permanently: evaluations, deliveries, syncs, or jobs.' },
)

const JudgeBudget = Closed(
  { kind: Choice(['judge_budget']), percent: Type.Integer({ minimum: 1, maximum: 100, examples: [80] }) },
  { title: 'JudgeBudgetCondition', description: 'At least `percent` of the month’s judge budget is spent.' },
)

const FindingCondition = Closed(
  {
    kind: Choice(['finding']),
    events: Type.Array(Choice(['created', 'reopened', 'raised']), { minItems: 1, uniqueItems: true }),
    minPriority: Type.Optional(Choice(['low', 'medium', 'high', 'urgent'])),
  },
  {
    title: 'FindingCondition',
    description:
      'A finding was created or reopened, or its priority was raised. The incident resolves when the finding is ' +
      'closed.',
  },
)

const ExperimentHealth = Closed(
  { kind: Choice(['experiment_health']) },
  { title: 'ExperimentHealthCondition', description: 'The routing of a running experiment looks wrong.' },
)

const schemas = [
  Rate,
  Score,
  Category,
  Field,
  Change,
  Spike,
  Signal,
  Sound,
  Volume,
  NoData,
  Failures,
  JudgeBudget,
  FindingCondition,
  ExperimentHealth,
] as const

export type AlertCondition = Static<(typeof schemas)[number]>
export type ConditionOf<Kind extends AlertCondition['kind']> = Extract<AlertCondition, { kind: Kind }>

/** `kind` selects the schema, so that errors refer to the right kind of condition. */
export const AlertCondition = Type.Unsafe<AlertCondition>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: schemas as readonly TSchema[],
  examples: [{ kind: 'rate', monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', direction: 'above', threshold: 0.2 }],
})
