import Type from 'typebox'
import { Choice, Closed, Id, Name, Nullable, PageQuery, Timestamp } from '../platform/http/schemas.ts'
import { AnyDefinition, definitionByKind, monitorKinds, Scope } from './definition.ts'

const MonitorName = { ...Name, examples: ['Refund promised'] }

const Description = Nullable(Type.String({ maxLength: 2_000 }))

const SamplePercent = Type.Number({
  minimum: 0,
  maximum: 100,
  multipleOf: 0.01,
  description:
    'Percentage of conversations to evaluate. A higher percentage always includes the conversations of a ' +
    'lower one.',
  examples: [100],
})

export const MonitorVersion = Closed(
  {
    number: Type.Integer({ minimum: 1, description: 'Numbered per monitor, starting at 1.' }),
    definition: AnyDefinition,
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
    kind: Type.Optional(Choice(monitorKinds, { description: 'Cannot change. The current value is accepted.' })),
    definition: Type.Optional({
      ...AnyDefinition,
      description: 'A different definition creates the next version.',
    }),
    scope: Type.Optional(Scope),
    samplePercent: Type.Optional(SamplePercent),
    enabled: Type.Optional(Type.Boolean()),
  },
  { minProperties: 1, examples: [{ enabled: false }] },
)

export const MonitorQuery = Closed({
  ...PageQuery.properties,
  kind: Type.Optional(Choice(monitorKinds)),
  enabled: Type.Optional(Type.Boolean()),
})
