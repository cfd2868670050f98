// The results of an experiment. The numbers are not rounded.

import Type, { type TSchema } from 'typebox'
import { Choice, Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { launched } from './schema.ts'

const Figure = Type.Number()
const Whole = Type.Integer({ minimum: 0 })
const P = Type.Number({ minimum: 0, maximum: 1 })
const Interval = Closed({ low: Figure, high: Figure })
const OptionalInterval = Nullable(Interval)
const ByArm = <T extends TSchema>(schema: T, options: Record<string, unknown> = {}) =>
  Closed({ a: schema, b: schema }, options)
const Counts = ByArm(Whole)

const NoInterval = Nullable(
  Choice(['too_few_units', 'too_few_observations', 'zero_variance'], { description: 'Why there is no interval.' }),
)

const Fixed = Closed(
  {
    interval: OptionalInterval,
    reason: NoInterval,
    p: P,
    method: Choice(['welch', 'score', 'score_and_fisher']),
    standardError: Nullable(Figure),
    degrees: Nullable(Figure),
    multiplier: Nullable(Figure),
    newcombe: OptionalInterval,
  },
  {
    title: 'FixedDifference',
    description: 'Valid only for a single look. It raises more false alarms if you look repeatedly.',
  },
)

const Anytime = Closed(
  {
    interval: OptionalInterval,
    reason: NoInterval,
    eValue: Figure,
    p: P,
    standardError: Nullable(Figure),
    degrees: Nullable(Figure),
    effectiveConversations: Nullable(Figure),
    multiplier: Nullable(Figure),
  },
  { title: 'AnytimeDifference', description: 'Valid no matter how often you look.' },
)

const Difference = { estimate: Nullable(Figure), fixed: Fixed, anytime: Anytime }

const ArmResult = Closed(
  {
    conversations: { ...Whole, description: 'Conversations the outcome applies to: the sum of the next four fields.' },
    observed: Whole,
    pending: { ...Whole, description: 'Conversations with a queued or running evaluation.' },
    missing: {
      ...Whole,
      description: 'Conversations without a result, with an unscored result, or without the category or field.',
    },
    failed: Whole,
    units: { ...Whole, description: 'Units with at least one observation.' },
    sum: Figure,
    mean: Nullable({ ...Figure, description: 'The share, such as the affected rate, or the mean.' }),
    standardDeviation: Nullable(Figure),
    designEffect: { ...Figure, description: 'How much returning units increase the variance.' },
    fixed: OptionalInterval,
    anytime: OptionalInterval,
  },
  { title: 'ArmResult' },
)

const Missingness = Closed(
  {
    shareA: Nullable(P),
    shareB: Nullable(P),
    fixed: Fixed,
    anytime: Anytime,
    flags: Type.Array(Choice(['differential_missingness', 'high_missingness'])),
    worstCase: Nullable(
      Closed({
        a: Interval,
        b: Interval,
        difference: Interval,
        signSurvives: Type.Boolean(),
        differenceAtAnyLook: OptionalInterval,
      }),
    ),
  },
  { title: 'Missingness', description: 'The missing observations from settled conversations, and their worst case.' },
)

const Concerns = Type.Array(Choice(['mismatch', 'arms_not_concurrent', 'routed_per_conversation']))

const Moment = Closed(
  {
    at: Timestamp,
    observedA: Whole,
    observedB: Whole,
    meanA: Nullable(Figure),
    meanB: Nullable(Figure),
    difference: Nullable(Figure),
    interval: OptionalInterval,
    p: P,
    splitP: Nullable(P),
  },
  { title: 'ExperimentMoment' },
)

const OutcomeResult = Closed(
  {
    metricId: Id,
    name: Type.String({ description: 'The monitor’s name at launch.' }),
    monitorVersion: Type.Integer({ minimum: 1 }),
    primary: Type.Boolean(),
    measure: Closed(
      {
        kind: Choice(['result', 'category', 'field']),
        key: Nullable(Type.String({ description: 'The category or field. Null for the result.' })),
        label: Nullable(Type.String({ description: 'The monitor’s name for the category or field at launch.' })),
      },
      { description: 'What the outcome measures about the monitor.' },
    ),
    kind: Choice(['boolean', 'numeric'], { description: 'Shares of conversations, or mean values.' }),
    range: Nullable({ ...Interval, description: 'The smallest and the largest possible value, if they are known.' }),
    arms: ByArm(ArmResult),
    difference: Closed(
      {
        ...Difference,
        withoutUnitsInBothArms: Closed(Difference),
      },
      { description: 'B minus A.' },
    ),
    lift: Closed(
      {
        estimate: Nullable(Figure),
        fixed: OptionalInterval,
        anytime: OptionalInterval,
        reason: Nullable(Choice(['baseline_is_zero', 'baseline_not_distinguishable_from_zero', 'difference_unknown'])),
      },
      { title: 'Lift', description: 'The difference relative to A.' },
    ),
    missingness: Missingness,
    precision: Closed(
      {
        fixedDifference: Nullable(Figure),
        anytimeDifference: Nullable(Figure),
        target: Nullable(Figure),
        moreConversations: Nullable(Figure),
        moreDays: Nullable(Figure),
      },
      {
        title: 'ExpectedPrecision',
        description:
          'The smallest difference that would be detected reliably by now, and how many more conversations it takes ' +
          'to detect `target`.',
      },
    ),
    corrected: Nullable(
      Closed(
        {
          reviewedA: Whole,
          reviewedB: Whole,
          shareReviewedA: { ...P, description: 'The reviewed share of A’s observed conversations.' },
          shareReviewedB: P,
          meanA: Figure,
          meanB: Figure,
          estimate: { ...Figure, description: 'B minus A.' },
          standardError: Figure,
          fixed: OptionalInterval,
          anytime: OptionalInterval,
        },
        {
          title: 'CorrectedDifference',
          description:
            'The difference corrected with people’s reviews of sampled conversations. Null for scores, categories, ' +
            'and fields, and until 30 conversations in each arm are reviewed in sampled buckets.',
        },
      ),
    ),
    correction: Nullable(
      Closed(
        {
          familySize: Whole,
          p: Nullable(P),
          q: Nullable(P),
          fixedP: Nullable(P),
          fixedQ: Nullable(P),
          simultaneous: Closed(Difference),
        },
        { description: 'For every outcome except the primary one: corrected for the number of outcomes.' },
      ),
    ),
    extremes: Closed(
      { eValue: Figure, p: P, firstExcludedZeroAt: Nullable(Timestamp) },
      { description: 'The strongest evidence over all looks so far.' },
    ),
    verdict: Closed(
      {
        verdict: Choice(['not_trustworthy', 'too_early', 'no_difference_shown', 'b_higher', 'b_lower']),
        concerns: Concerns,
        text: Type.String(),
      },
      { title: 'Verdict' },
    ),
    timeline: Type.Array(Moment, { description: 'Past values, oldest first. The last one is current.' }),
  },
  { title: 'OutcomeResult' },
)

const Evenness = Closed(
  {
    status: Choice(['cannot_tell', 'even', 'uneven']),
    p: P,
    values: Type.Array(Closed({ value: Nullable(Type.String()), a: Whole, b: Whole })),
    others: { ...Counts, description: 'Conversations with values that are not listed.' },
  },
  { title: 'SplitBy', description: 'Each arm’s conversations, most frequent values first.' },
)

const Health = Closed(
  {
    concerns: { ...Concerns, description: 'The problems that make every outcome untrustworthy.' },
    sampleRatio: Closed({
      status: Choice(['not_configured', 'too_few', 'fits', 'watch', 'mismatch']),
      units: Counts,
      expectedA: Nullable(P),
      chiSquareP: Nullable(P),
      eValue: Figure,
      p: P,
      shareOfA: OptionalInterval,
    }),
    concurrency: Closed({
      status: Choice(['cannot_tell', 'concurrent', 'arms_not_concurrent']),
      overlapShare: Nullable(P),
      p: P,
    }),
    routing: Closed({
      status: Choice(['cannot_tell', 'stable', 'unstable_routing', 'routed_per_conversation']),
      units: Whole,
      returning: Whole,
      inBothArms: Whole,
      shareInBothArms: Nullable(Closed({ value: P, interval: Interval })),
      instability: Nullable(Figure),
    }),
    conversations: Closed({ a: Whole, b: Whole, perDay: { ...Figure, description: 'Over the last seven days.' } }),
    withoutUnit: { ...Counts, description: 'Conversations without a unit, which count as their own unit.' },
    byDay: Type.Array(Closed({ day: Type.String({ format: 'date', examples: ['2026-11-21'] }), a: Whole, b: Whole })),
    byHour: Evenness,
    byCompany: Evenness,
    byDirection: Evenness,
    otherVersions: Type.Array(Closed({ agentVersionId: Nullable(Id), conversations: Whole }), {
      description: 'Agent versions in neither arm, with their conversations since the launch.',
    }),
    overlapping: Type.Array(Closed({ id: Id, name: Type.String() }), {
      description: 'Other running experiments that share a version with this one.',
    }),
  },
  { title: 'ExperimentHealth', description: 'Whether the arms can be compared.' },
)

export const Experiment = Closed(
  {
    ...launched,
    alpha: { ...P, description: 'The maximum rate of false alarms.' },
    tuningConversations: { ...Whole, description: 'The number of conversations at which the intervals are narrowest.' },
    countedAt: { ...Timestamp, description: 'When these figures were last counted.' },
    outcomes: Type.Array(OutcomeResult),
    health: Health,
  },
  { title: 'Experiment' },
)
