import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, PageQuery, Timestamp } from '../platform/http/schemas.ts'
import { AnyDefinition, definitionByKind, monitorKinds, Scope } from './definition.ts'

const MonitorName = { ...Name, examples: ['Refund promised'] }

const Description = Nullable(Type.String({ maxLength: 2_000 }))

const SamplePercent = Type.Number({
  minimum: 0,
  maximum: 100,
  multipleOf: 0.01,
  description: 'Percentage of conversations to evaluate. Raising it keeps the conversations that were already sampled.',
  examples: [100],
})

const RequireGain = Type.Boolean({
  description:
    'Whether a new definition needs an alignment that shows better agreement with people. Only admins can change it.',
})

/** The reason why an admin publishes a definition without a proven gain. */
const OverrideReason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '\\S',
  description:
    'Publishes a definition that has not shown a gain even though the monitor requires one. Only for admins. The ' +
    'reason becomes the version’s note, and the override is recorded in the audit log.',
})

export const MonitorVersion = Closed(
  {
    number: Type.Integer({ minimum: 1, description: 'Numbered per monitor, starting at 1.' }),
    definition: AnyDefinition,
    note: Type.Optional(
      Type.String({
        description:
          'Why the version was created, if not by an ordinary edit: an applied alignment, a removed review, or a ' +
          'definition published without a proven gain.',
        examples: ['Applied an alignment: threshold.'],
      }),
    ),
    createdAt: Timestamp,
  },
  { title: 'MonitorVersion' },
)

export const Monitor = Closed(
  {
    id: Id,
    name: MonitorName,
    description: Description,
    kind: Choice(monitorKinds),
    enabled: Type.Boolean(),
    scope: Scope,
    samplePercent: SamplePercent,
    requireGain: RequireGain,
    currentVersion: MonitorVersion,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Monitor' },
)

export const MonitorCreate = Closed(
  {
    name: MonitorName,
    description: Type.Optional(Description),
    kind: Choice(monitorKinds),
    definition: AnyDefinition,
    scope: Type.Optional(Scope),
    samplePercent: Type.Optional(SamplePercent),
    enabled: Type.Optional(Type.Boolean()),
  },
  {
    allOf: definitionByKind,
    examples: [{ name: 'Refund promised', kind: 'rule', definition: { expression: 'signals.toolFailures > 0' } }],
  },
)

export const MonitorUpdate = Closed(
  {
    name: Type.Optional(MonitorName),
    description: Type.Optional(Description),
    kind: Type.Optional(Choice(monitorKinds, { description: 'Cannot change. Only the current value is accepted.' })),
    definition: Type.Optional({
      ...AnyDefinition,
      description: 'A different definition creates the next version.',
    }),
    scope: Type.Optional(Scope),
    samplePercent: Type.Optional(SamplePercent),
    enabled: Type.Optional(Type.Boolean()),
    requireGain: Type.Optional(RequireGain),
    overrideReason: Type.Optional(OverrideReason),
  },
  { minProperties: 1, examples: [{ enabled: false }] },
)

export const MonitorQuery = Closed({
  ...PageQuery.properties,
  kind: Type.Optional(Choice(monitorKinds)),
  enabled: Type.Optional(Type.Boolean()),
})
