import Type from 'typebox'
import { Choice, Closed, Nullable, Timestamp, TimestampInput } from '../platform/http/schemas.ts'

const Interval = Choice(['hour', 'day', 'week'])
const TimeZone = Type.String({ minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] })
const Count = Type.Integer({ minimum: 0 })
const Rate = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

const Bucket = Closed({
  start: Timestamp,
  end: { ...Timestamp, description: 'The end of the period, exclusive.' },
  affected: Count,
  notAffected: Count,
  unscored: Count,
  failed: Count,
  affectedRate: {
    ...Rate,
    description: 'Affected results divided by affected and not affected ones. Null if there are none.',
  },
  low: { ...Rate, description: 'Lower end of the rate’s 95% interval.' },
  high: { ...Rate, description: 'Upper end of the rate’s 95% interval.' },
  meanScore: Nullable(Type.Number({ description: 'Mean of the scores of scored results.' })),
  cost: Nullable(
    Type.Number({
      minimum: 0,
      description: 'The cost of the counted results in US dollars. Null without a known price.',
    }),
  ),
})

const Corrected = Nullable(
  Closed(
    {
      reviewed: { ...Count, description: 'Calls that people have judged.' },
      shareReviewed: Type.Number({ minimum: 0, maximum: 1 }),
      rate: Type.Number({ minimum: 0, maximum: 1 }),
      low: Type.Number({ minimum: 0, maximum: 1, description: 'Lower end of the 95% interval.' }),
      high: Type.Number({ minimum: 0, maximum: 1, description: 'Upper end of the 95% interval.' }),
    },
    {
      description:
        'The affected rate for the whole period, corrected with reviews of sampled calls. Null until 30 sampled ' +
        'calls are reviewed.',
    },
  ),
)

export const Trend = Closed(
  { interval: Interval, timezone: TimeZone, data: Type.Array(Bucket), corrected: Corrected },
  { title: 'MonitorTrend' },
)

export const TrendQuery = Closed({
  interval: { ...Interval, default: 'day', description: 'Weeks start on Monday.' },
  timezone: { ...TimeZone, default: 'UTC', description: 'The IANA time zone for days and weeks.' },
  since: Type.Optional({
    ...TimestampInput,
    description: 'The start of the period. Default: 30 local days before `until`.',
  }),
  until: Type.Optional({ ...TimestampInput, description: 'The end of the period, exclusive. Default: now.' }),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'Only this version of the monitor. By default, each call’s newest version that has a result.',
    }),
  ),
})
