import Type from 'typebox'
import { Choice, Closed, Nullable, Timestamp, TimestampInput } from '../platform/http/schemas.ts'

const Interval = Choice(['hour', 'day', 'week'])
const TimeZone = Type.String({ minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] })
const Count = Type.Integer({ minimum: 0 })
const Rate = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

const Bucket = Closed({
  start: Timestamp,
  end: { ...Timestamp, description: 'The instant after the last that belongs to it.' },
  affected: Count,
  notAffected: Count,
  unscored: Count,
  failed: Count,
  affectedRate: { ...Rate, description: 'Affected among affected and not affected; null when there are none.' },
  low: { ...Rate, description: 'The lower end of the 95 % interval of the rate.' },
  high: { ...Rate, description: 'The upper end of the 95 % interval of the rate.' },
  meanScore: Nullable(Type.Number({ description: 'Of the scored results that have a score.' })),
  cost: Nullable(
    Type.Number({
      minimum: 0,
      description: 'What the counted results cost, in US dollars; null where no price is known, or none is asked.',
    }),
  ),
})

const Corrected = Nullable(
  Closed(
    {
      reviewed: { ...Count, description: 'Calls that people have judged.' },
      shareReviewed: Type.Number({ minimum: 0, maximum: 1 }),
      rate: Type.Number({ minimum: 0, maximum: 1 }),
      low: Type.Number({ minimum: 0, maximum: 1, description: 'The lower end of its 95 % interval.' }),
      high: Type.Number({ minimum: 0, maximum: 1, description: 'The upper end of its 95 % interval.' }),
    },
    {
      description:
        'The affected rate of the whole window as reviews of sampled calls correct it, beside what the monitor alone ' +
        'says. Null until 30 of them are reviewed.',
    },
  ),
)

export const Trend = Closed(
  { interval: Interval, timezone: TimeZone, data: Type.Array(Bucket), corrected: Corrected },
  { title: 'MonitorTrend' },
)

export const TrendQuery = Closed({
  interval: { ...Interval, default: 'day', description: 'Weeks begin on Monday.' },
  timezone: { ...TimeZone, default: 'UTC', description: 'The IANA name of the zone whose days and weeks are meant.' },
  since: Type.Optional({
    ...TimestampInput,
    description: 'The first instant. Left out, the window is the last thirty local days before `until`.',
  }),
  until: Type.Optional({ ...TimestampInput, description: 'The instant after the last; now if left out.' }),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'Of this version of the monitor alone. Otherwise of each call the newest that has a result.',
    }),
  ),
})
