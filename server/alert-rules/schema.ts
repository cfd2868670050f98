import Type, { type Static } from 'typebox'
import { Filter } from '../filters/filter.ts'
import { Choice, Closed, Id, Name, Nullable, Timestamp, TimestampInput } from '../platform/http/schemas.ts'
import { AlertCondition } from './condition-schema.ts'

const RuleName = { ...Name, maxLength: 100, examples: ['Too many callers ask for a person'] }

const Severity = Choice(['info', 'warning', 'critical'])
const GroupBy = Choice(['agent', 'company', 'version'])
const windowMeans = 'Measures conversations that started within this window.'
const WindowMinutes = Type.Integer({ minimum: 5, maximum: 43_200, description: windowMeans, examples: [60] })
const sampleMeans = 'The rule never fires with fewer conversations. Volume and no_data ignore it.'
const MinimumSample = Type.Integer({ minimum: 1, maximum: 1_000_000, description: sampleMeans, examples: [30] })
const DestinationIds = Type.Array(Id, { maxItems: 20, uniqueItems: true, description: 'Where incidents are sent.' })
const RepeatEveryMinutes = Type.Integer({
  minimum: 5,
  maximum: 10_080,
  description: 'Sends a reminder this often until someone acknowledges the incident.',
})
const RunbookUrl = Type.String({
  maxLength: 2_048,
  pattern: '^https?://',
  description: 'A link to include in notifications.',
  examples: ['https://wiki.example.com/runbooks/voice-agent'],
})
const OwnerUserId = { ...Id, description: 'A member’s `userId`.' }

const NullableFilter = Type.Unsafe<Static<typeof Filter> | null>({
  anyOf: [Filter, { type: 'null' }],
  description: 'Which conversations count. Null counts all. Cannot contain `since`, `until`, or `period`.',
})

export const Rule = Closed(
  {
    id: Id,
    name: RuleName,
    enabled: Type.Boolean(),
    severity: Severity,
    condition: AlertCondition,
    filter: NullableFilter,
    groupBy: {
      ...Nullable(GroupBy),
      description: 'Checks each group separately and opens an incident for each that meets the condition.',
    },
    windowMinutes: WindowMinutes,
    minimumSample: MinimumSample,
    destinationIds: DestinationIds,
    ownerUserId: Nullable(OwnerUserId),
    repeatEveryMinutes: Nullable(RepeatEveryMinutes),
    runbookUrl: Nullable(RunbookUrl),
    state: Choice(['ok', 'firing', 'muted'], { description: 'muted: incidents open, but are not sent.' }),
    mutedUntil: Nullable(Timestamp),
    createdByUserId: { ...Nullable(Id), description: 'Null for the default rules.' },
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'AlertRule' },
)

const optional = {
  severity: Type.Optional({ ...Severity, description: 'Default: warning.' }),
  enabled: Type.Optional(Type.Boolean({ description: 'Default: true.' })),
  filter: Type.Optional(NullableFilter),
  groupBy: Type.Optional(Nullable(GroupBy)),
  windowMinutes: Type.Optional({ ...WindowMinutes, description: `${windowMeans} Default: 60.` }),
  minimumSample: Type.Optional({ ...MinimumSample, description: `${sampleMeans} Default: 30.` }),
  destinationIds: Type.Optional(DestinationIds),
  ownerUserId: Type.Optional(Nullable(OwnerUserId)),
  repeatEveryMinutes: Type.Optional(Nullable(RepeatEveryMinutes)),
  runbookUrl: Type.Optional(Nullable(RunbookUrl)),
}

const example = {
  name: 'Too many callers ask for a person',
  condition: {
    kind: 'rate',
    monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f',
    direction: 'above',
    threshold: 0.2,
  },
}

export const RuleCreate = Closed({ name: RuleName, condition: AlertCondition, ...optional }, { examples: [example] })

export const RuleUpdate = Closed(
  { name: Type.Optional(RuleName), condition: Type.Optional(AlertCondition), ...optional },
  { minProperties: 1, examples: [{ enabled: false }] },
)

export const RuleMute = Closed(
  {
    until: {
      ...Nullable(TimestampInput),
      description: 'New incidents are not sent until this time. Null unmutes the rule.',
    },
  },
  { examples: [{ until: '2026-11-22T08:00:00Z' }] },
)

export const RulePreviewRequest = Closed(
  {
    condition: AlertCondition,
    filter: optional.filter,
    groupBy: optional.groupBy,
    windowMinutes: optional.windowMinutes,
    minimumSample: optional.minimumSample,
  },
  { examples: [{ condition: example.condition }] },
)

export const RulePreview = Closed(
  {
    since: Timestamp,
    until: Timestamp,
    incidents: Type.Array(
      Closed({
        group: Type.Unsafe<{ key: string; label: string | null } | null>({
          type: ['object', 'null'],
          properties: { key: { type: 'string' }, label: { type: ['string', 'null'] } },
          required: ['key', 'label'],
          additionalProperties: false,
        }),
        openedAt: Timestamp,
        resolvedAt: { ...Nullable(Timestamp), description: 'Null if the incident would still be open.' },
        value: Nullable(Type.Number()),
      }),
      { description: 'When the rule would have fired, newest first, up to 200.' },
    ),
    incidentCount: Type.Integer({ minimum: 0 }),
    series: Type.Array(
      Closed({
        at: { ...Timestamp, description: 'The end of the window.' },
        value: Nullable(Type.Number()),
        low: Nullable(Type.Number()),
        high: Nullable(Type.Number()),
        sample: Type.Integer({ minimum: 0 }),
      }),
      { description: 'The measured values, oldest first. With groups, the values of the busiest group.' },
    ),
  },
  { title: 'AlertRulePreview' },
)
