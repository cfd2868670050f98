import Type, { type Static } from 'typebox'
import { configFields } from '../exports/config-fields.ts'
import { conversationFields } from '../exports/conversations/config-fields.ts'
import { Choice, Closed, Id, Name, Nullable, Timestamp, TimestampInput } from '../platform/http/schemas.ts'
import { weekdays } from './recurrence.ts'

const Config = Closed(
  {
    ...configFields,
    timezone: {
      ...configFields.timezone,
      description: 'The IANA time zone for the schedule and for the window’s dates in the file.',
    },
  },
  {
    title: 'ExportScheduleConfig',
    description: 'What each run exports: an export configuration without a window and an endpoint.',
    examples: [
      { monitors: [{ id: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', result: 'affected' }], timezone: 'Europe/Berlin' },
    ],
  },
)

const ConversationConfig = Closed(
  {
    ...conversationFields,
    timezone: {
      ...configFields.timezone,
      description: 'The IANA time zone for the schedule and for the window’s dates in the file.',
    },
  },
  {
    title: 'ConversationExportScheduleConfig',
    description:
      'What each run exports: a conversation export’s configuration without an endpoint. Its filter cannot contain ' +
      '`since`, `until`, or `period`, because each run has its own window.',
    examples: [
      {
        filter: { channels: ['call'] },
        columns: [{ key: 'startedAt' }, { key: 'agentId' }, { key: 'affected' }],
        format: 'jsonl',
        timezone: 'Europe/Berlin',
      } satisfies object,
    ],
  },
)

const Minute = Type.Integer({ minimum: 0, maximum: 59, description: 'Minute of the hour, for `hour`. Default: 0.' })
const At = Type.String({
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  description:
    'Local time, for all recurrences except `hour`. When clocks go back, a time that occurs twice runs once, the ' +
    'first time. When they go forward, a skipped time runs later by the same amount.',
  examples: ['02:30'],
})
const Weekday = Choice(weekdays, { description: 'For `week`.' })
const Day = Type.Integer({
  minimum: 1,
  maximum: 31,
  description: 'Day of the month, for `month`. In shorter months, the last day.',
})

const Every = Choice(['hour', 'day', 'week', 'month'])

const RecurrenceInput = Closed(
  {
    every: Every,
    minute: Type.Optional(Minute),
    at: Type.Optional(At),
    weekday: Type.Optional(Weekday),
    day: Type.Optional(Day),
  },
  { title: 'ExportScheduleRecurrenceInput', examples: [{ every: 'day', at: '02:30' }] },
)

const Recurrence = Closed(
  { every: Every, minute: Nullable(Minute), at: Nullable(At), weekday: Nullable(Weekday), day: Nullable(Day) },
  { title: 'ExportScheduleRecurrence' },
)

const Kind = Choice(['last', 'since_last_run'], {
  description:
    '`last`: the given number of hours or days up to the end of the window. `since_last_run`: since the end of the ' +
    'last successful run’s window, so that each call is exported once.',
})
const Hours = Type.Integer({ minimum: 1, maximum: 8_784 })
const Days = Type.Integer({
  minimum: 1,
  maximum: 366,
  description: 'Calendar days, which last 23 or 25 hours when clocks change.',
})

const WindowInput = Closed(
  {
    kind: Kind,
    hours: Type.Optional(Hours),
    days: Type.Optional(Days),
    since: Type.Optional({
      ...TimestampInput,
      description: 'Overrides where the next `since_last_run` window starts.',
    }),
  },
  { title: 'ExportScheduleWindowInput', examples: [{ kind: 'last', days: 1 }] },
)

const Window = Closed({ kind: Kind, hours: Nullable(Hours), days: Nullable(Days) }, { title: 'ExportScheduleWindow' })

const SettleMinutes = Type.Integer({
  minimum: 0,
  maximum: 10_080,
  default: 60,
  description:
    'Each window ends this long before its run, so that calls can end, arrive, and be evaluated. With ' +
    '`since_last_run`, calls that arrive later are missing from every window.',
})

const Kinds = Choice(['s3', 'webhook'])
const bucketFields = {
  bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', examples: ['acme-exports'] }),
  region: Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$', examples: ['eu-central-1'] }),
  prefix: Type.String({
    pattern: '^[A-Za-z0-9._=-]+(/[A-Za-z0-9._=-]+)*$',
    maxLength: 200,
    description: 'Prefix of each file, followed by a slash.',
    examples: ['earshot/calls'],
  }),
  endpoint: Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'Address of a store other than AWS: `https` on a public host, or `https` or `http` in private ' +
      'networks that the operator allows.',
    examples: ['https://storage.example.com'],
  }),
  accessKeyId: Type.String({ pattern: '^[\\x21-\\x7e]{1,128}$', examples: ['AKIAIOSFODNN7EXAMPLE'] }),
  fileName: Type.String({
    minLength: 1,
    maxLength: 300,
    pattern: '^[A-Za-z0-9._=/{}-]+$',
    description:
      'Can contain `{schedule}`, `{since}`, `{until}`, `{date}` (of the run, in the schedule’s time zone), ' +
      '`{run}`, and `{format}`. If the name is the same for every run, each run overwrites the file. ' +
      'Default: `{schedule}-{since}-{until}.{format}`.',
    examples: ['dt={date}/{schedule}-{run}.{format}'],
  }),
  encryption: Choice(['AES256', 'aws:kms'], { description: 'The server-side encryption to request for each file.' }),
}

const DestinationInput = Closed(
  {
    type: Kinds,
    webhookEndpointId: Type.Optional({ ...Id, description: 'An active webhook endpoint, for `webhook`.' }),
    bucket: Type.Optional(bucketFields.bucket),
    region: Type.Optional(bucketFields.region),
    prefix: Type.Optional(bucketFields.prefix),
    endpoint: Type.Optional(bucketFields.endpoint),
    accessKeyId: Type.Optional(bucketFields.accessKeyId),
    secretAccessKey: Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,256}$',
        description: 'Never shown again. Can be omitted while the bucket, endpoint, and access key ID stay the same.',
      }),
    ),
    fileName: Type.Optional(bucketFields.fileName),
    encryption: Type.Optional(bucketFields.encryption),
  },
  {
    title: 'ExportDestinationInput',
    description: '`s3` needs a bucket, its region and an access key; `webhook` needs only an endpoint.',
    examples: [{ type: 'webhook', webhookEndpointId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' }],
  },
)

const Destination = Closed(
  {
    type: Kinds,
    webhookEndpointId: Nullable(Id),
    bucket: Nullable(bucketFields.bucket),
    region: Nullable(bucketFields.region),
    prefix: Nullable(bucketFields.prefix),
    endpoint: Nullable(bucketFields.endpoint),
    accessKeyId: Nullable(bucketFields.accessKeyId),
    fileName: Nullable(bucketFields.fileName),
    encryption: Nullable(bucketFields.encryption),
  },
  { title: 'ExportDestination' },
)

const ScheduleName = { ...Name, maxLength: 100, examples: ['Yesterday’s refunds'] }

export const ExportScheduleCreate = Closed({
  name: ScheduleName,
  config: Type.Optional(Config),
  conversationConfig: Type.Optional(ConversationConfig),
  recurrence: RecurrenceInput,
  window: WindowInput,
  settleMinutes: Type.Optional(SettleMinutes),
  destination: DestinationInput,
})
export type ExportScheduleCreate = Static<typeof ExportScheduleCreate>

const Status = Choice(['active', 'paused'])

export const ExportScheduleUpdate = Closed(
  {
    name: Type.Optional(ScheduleName),
    config: Type.Optional(Config),
    conversationConfig: Type.Optional(ConversationConfig),
    recurrence: Type.Optional(RecurrenceInput),
    window: Type.Optional(WindowInput),
    settleMinutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_080 })),
    destination: Type.Optional(DestinationInput),
    status: Type.Optional(Status),
  },
  { minProperties: 1, examples: [{ name: 'Yesterday’s refunds' }] },
)
export type ExportScheduleUpdate = Static<typeof ExportScheduleUpdate>

const Whole = Type.Integer({ minimum: 0 })

export const ExportScheduleRun = Closed(
  {
    id: Id,
    plannedFor: Timestamp,
    manual: Type.Boolean({ description: 'Whether someone started the run manually.' }),
    since: Timestamp,
    until: Timestamp,
    status: Choice(['generating', 'delivering', 'succeeded', 'failed'], {
      description:
        'For a webhook, a run succeeds when its export is completed. The notification has its own deliveries.',
    }),
    exportId: { ...Nullable(Id), description: 'Null if the export could not be created.' },
    objectKey: { ...Nullable(Type.String()), description: 'The file’s key in the bucket.' },
    attempts: { ...Whole, description: 'Delivery attempts to the bucket.' },
    error: { ...Nullable(Type.String()), description: 'Why the run failed, or the error of the last attempt.' },
    createdAt: Timestamp,
    finishedAt: Nullable(Timestamp),
  },
  { title: 'ExportScheduleRun' },
)

export const ExportSchedule = Closed(
  {
    id: Id,
    name: ScheduleName,
    config: Type.Optional(Config),
    conversationConfig: Type.Optional(ConversationConfig),
    recurrence: Recurrence,
    window: Window,
    settleMinutes: SettleMinutes,
    destination: Destination,
    status: Status,
    pauseReason: {
      ...Nullable(Choice(['by_hand', 'failing', 'owner_left'])),
      description: 'failing: five runs in a row failed. owner_left: the owner has left the organization.',
    },
    consecutiveFailures: Whole,
    coveredUntil: { ...Timestamp, description: 'Where the next `since_last_run` window starts.' },
    nextRunAt: { ...Nullable(Timestamp), description: 'Null while the schedule is paused.' },
    lastRun: Type.Unsafe<Static<typeof ExportScheduleRun> | null>({ anyOf: [ExportScheduleRun, { type: 'null' }] }),
    ownerUserId: { ...Id, description: 'The person the schedule runs as: the last person who changed it.' },
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'ExportSchedule' },
)

export const ExportScheduleTest = Closed(
  {
    ok: Type.Boolean(),
    message: Type.String({ examples: ['A test object was written and deleted.'] }),
  },
  { title: 'ExportScheduleTest' },
)
